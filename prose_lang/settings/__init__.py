"""Settings files: `prose.toml` and `pyproject.toml`. What a table means is for the room that it belongs to."""

from prose_lang.settings.files import SettingsFiles, project_folder
from prose_lang.settings.table import Table, read_table

__all__ = ["SettingsFiles", "Table", "project_folder", "read_table"]
