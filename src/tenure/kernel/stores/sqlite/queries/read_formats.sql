SELECT line, version
FROM format
