"""XML from tools we do not trust: no entity is expanded, and nothing is fetched.

A document type may be named, as Cobertura's reports do; it is never looked up.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class Malformed(Exception):
    """It is not XML, or XML that declares what could blow up or reach elsewhere."""


def parse_xml(content: bytes) -> "Element":
    """The root of the document.

    Raises:
        Malformed: it does not parse, or it declares entities; the message says which.
    """
    from defusedxml import DefusedXmlException, EntitiesForbidden, ExternalReferenceForbidden
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        return fromstring(content)
    except EntitiesForbidden as error:
        raise Malformed(f"it declares the entity {error.name!r}, which is refused") from error
    except ExternalReferenceForbidden as error:
        raise Malformed("it refers to something outside of it, which is refused") from error
    except DefusedXmlException as error:
        raise Malformed("it declares what is refused") from error
    except (ParseError, ValueError, LookupError, RecursionError) as error:
        raise Malformed(f"it does not parse as XML: {error}") from error
