UPDATE checkpoint SET parent = ?, run = ?, versions = ?, kind = ?, body = ?, metadata_kind = ?, metadata = ? WHERE number = ?;
