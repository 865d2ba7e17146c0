# The commands a developer types.
PYTHON := .venv/bin/python

setup:  ## the environment in .venv, and the hooks of git
	python3 -m venv .venv
	.venv/bin/pip install -q -r requirements.txt -r requirements-dev.txt
	.venv/bin/pre-commit install

run:  ## the app, which reloads on every save
	STREAMLIT_SERVER_FILE_WATCHER_TYPE=auto .venv/bin/streamlit run app.py

test:  ## the fast tests
	$(PYTHON) -m pytest -n auto --dist loadfile

generated:  ## what is written from the code: names of classes, samples of formats, keys of the desk
	$(PYTHON) -m tools.front_door
	$(PYTHON) -m tools.samples
	$(PYTHON) -m tools.desk_keys

docs:  ## the documentation site, with the pages that are read off the code, in site/
	$(PYTHON) -m tools.pages
	.venv/bin/zensical build --strict

check:  ## all that must pass before a change lands
	bash .ci/run

.PHONY: setup run test generated docs check
