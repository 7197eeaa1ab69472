"""How Sphinx builds the site; ``tools/build_site.py`` lays out what it reads."""

from lmarvel import __version__

project = "lmarvel"
author = "The lmarvel developers"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "sphinx_copybutton", "sphinx_design"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4  # as GitHub makes them
highlight_language = "none"
smartquotes = False  # a quote in a command is to be typed as it stands
suppress_warnings = ["myst.header", "ref.python"]  # headings that skip a level; words that name several attributes

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what a parameter is, in words
autodoc_preserve_defaults = True
numpydoc_show_class_members = False  # autodoc lists them
python_maximum_signature_line_length = 100
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "lmarvel"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would be fetched, which browsers refuse to pages that are opened as files
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_prev_next": True,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
copyright = "The lmarvel developers, MIT licence"
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
