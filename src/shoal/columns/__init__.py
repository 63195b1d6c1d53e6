"""A column as arrays: numbers, categories with their hierarchy, both mixed in one record, and how they are scaled."""
