"""docs/recipes.md: each recipe is there to be run (test_docs.py runs the commands of every page, also of this one)."""

import re

import pytest
from conftest import ROOT
from ecosort_site import console

PAGE = ROOT / "docs" / "recipes.md"
RECIPES = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.splitlines()[0])
def test_a_recipe_has_commands_that_are_run(recipe: str) -> None:
    """A recipe of a bucket needs one: tests/python/cluster/test_s3.py has it."""
    assert console.steps_of(recipe) or "s3://" in recipe
