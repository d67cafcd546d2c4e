"""Office files: told apart by what is inside them, whatever they are called."""

from __future__ import annotations

from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers import docx, odf, pptx, xlsx
from gossamer.readers.archive import Archive
from gossamer.readers.limits import Limits
from gossamer.records import Document

__all__ = ["read"]

# The container of Word 97 and its kin, and of every newer file that has a password.
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PART = "EncryptedPackage".encode("utf-16-le")


def read(_path: Path, data: bytes, limits: Limits) -> list[Document]:
    """Read DOCX, PPTX, XLSX or OpenDocument; XLSX gives one document for each sheet."""
    if data.startswith(_OLE):
        if _ENCRYPTED_PART in data:
            raise Unreadable("password-protected")
        raise Unreadable("an office file of the old format; save it as .docx, .pptx or .xlsx")
    archive = Archive(data)
    if "mimetype" in archive and "content.xml" in archive:
        return odf.read_archive(archive, limits)
    if "word/document.xml" in archive:
        return docx.read_archive(archive, limits)
    if "ppt/presentation.xml" in archive:
        return pptx.read_archive(archive, limits)
    if "xl/workbook.xml" in archive:
        return xlsx.read_archive(archive, limits)
    raise Unreadable("a zip archive without a document, slides or a workbook in it")
