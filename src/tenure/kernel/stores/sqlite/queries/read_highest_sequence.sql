SELECT coalesce(max(sequence), 0)
FROM attempt INDEXED BY one_place_in_sequence
WHERE repository = ?
