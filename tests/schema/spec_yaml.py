"""YAML as our reader takes it, for a stock validator.

PyYAML follows YAML 1.1, where yes, no, on and off are booleans, 012 is octal, 1_000 and 1:30 are numbers, 1e3 is not
one, and dates are objects. Our reader takes true and false, decimal integers without leading zeros and decimal reals,
and nothing else; every other plain scalar is a text. Duplicate keys are refused, as ours are.
"""

import math
import re

import yaml


class SpecLoader(yaml.SafeLoader):
    yaml_implicit_resolvers = {}


def plain(tag, pattern, first):
    SpecLoader.add_implicit_resolver(tag, re.compile(pattern), list(first))


plain("tag:yaml.org,2002:bool", r"^(?:true|false)$", "tf")
plain("tag:yaml.org,2002:null", r"^(?:~|null|)$", ["~", "n", ""])
plain("tag:yaml.org,2002:int", r"^-?(?:0|[1-9][0-9]*)$", "-0123456789")
plain("tag:yaml.org,2002:float", r"^-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$", "-.0123456789")


class Real(float):
    """A number written with a point or an exponent: 3.0 is no integer in a spec, though it is one in JSON Schema."""

    def is_integer(self):
        return False


def integer(loader, node):
    return int(loader.construct_scalar(node))


def real(loader, node):
    value = Real(loader.construct_scalar(node))
    return value if math.isfinite(value) else str(node.value)


def mapping(loader, node):
    keys = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key is a plain text", key.start_mark)
        if key.value in keys:
            raise yaml.constructor.ConstructorError(None, None, f"duplicate key {key.value}", key.start_mark)
        keys.add(key.value)
    # Keys are texts, whatever they look like.
    return {key.value: loader.construct_object(value, deep=True) for key, value in node.value}


SpecLoader.add_constructor("tag:yaml.org,2002:int", integer)
SpecLoader.add_constructor("tag:yaml.org,2002:float", real)
SpecLoader.add_constructor("tag:yaml.org,2002:map", mapping)


def load(text):
    return yaml.load(text, Loader=SpecLoader)
