"""Tool calls in any model's own words: the format is derived from its chat template."""
