"""The schemas in docs/ as tests use them."""


def closed(schema):
    """The schema without room for fields that it does not name: what this version may write."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    shut = {name: closed(value) for name, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        shut["additionalProperties"] = False
    return shut
