"""PARTITION: records to groups of at least k. ``methods`` lists the methods, each in a module of its own."""
