"""From a recipe to a project of the course's layout, which trains on MindSpore alone."""

from luthier.port.project.writing import Project, project_text, write_project

__all__ = ["Project", "project_text", "write_project"]
