"""What pages are made of: buttons, boxes that open, downloads, fields, figures, tables, and what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial, wraps
from mimetypes import guess_type
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, ParamSpec, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pll.errors import UserError
from pll.runs.description import RUN_FIELDS
from pll.ui.format import plain

if TYPE_CHECKING:
    import pandas as pd

P = ParamSpec("P")
T = TypeVar("T")
Kind = Literal["primary", "secondary", "tertiary"]
TABLE_ROW = 35
"""Pixels of a row of a table."""


def symbol(icon: str) -> str | None:
    """A Material symbol by its name, as Streamlit takes it; None for none."""
    return f":material/{icon}:" if icon else None


# ---- errors: on the page, in a toast, and never a traceback ----------------------------------------------------------


def show_error(error: Exception | str, *, icon: str = "error") -> None:
    """Show what went wrong, in its place on the page.

    Parameters
    ----------
    error
        What went wrong.
    icon
        Name of a Material symbol.
    """
    st.error(plain(error), icon=symbol(icon))


def toast_errors(callback: Callable[P, object]) -> Callable[P, None]:
    """A callback that says what went wrong in a toast."""

    @wraps(callback)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            callback(*args, **kwargs)
        except (UserError, OSError) as error:
            st.toast(plain(error), icon=":material/error:")

    return wrapped


def show_errors(part: Callable[P, object]) -> Callable[P, None]:
    """A part of a page that says what went wrong in its own place. To be put below `st.fragment`."""

    @wraps(part)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            part(*args, **kwargs)
        except UserError as error:
            show_error(error)

    return wrapped


# ---- buttons, downloads, and boxes that open -------------------------------------------------------------------------


def button(
    label: str, act: Callable[..., object], *args: object, icon: str = "", kind: Kind = "secondary", **more: Any
) -> None:
    """Show a button that does something; what goes wrong is said in a toast.

    Parameters
    ----------
    label
        What stands on it.
    act, args
        What is called when it is pressed, before the page runs, and with what.
    icon
        Name of a Material symbol; "" for none.
    kind
        How much it stands out: one of a page is primary.
    more
        Further options of `st.button`.
    """
    st.button(label, icon=symbol(icon), on_click=toast_errors(act), args=args, type=kind, **more)


def download(
    label: str,
    data: bytes | str | Callable[[], bytes | str],
    name: str,
    *,
    key: str,
    kind: Kind = "secondary",
    icon: str = "download",
    **more: Any,
) -> None:
    """Show a button that downloads a file; the page does not run, unless `on_click` says so.

    Parameters
    ----------
    label
        What stands on it.
    data
        The content, or a function that makes it when the button is pressed.
    name
        Of the file.
    key
        Of the widget.
    kind
        How much it stands out.
    icon
        Name of a Material symbol.
    more
        Further options of `st.download_button`.
    """
    mime = guess_type(name)[0] or "application/octet-stream"
    st.download_button(label, data, name, mime, key, type=kind, icon=symbol(icon), **{"on_click": "ignore", **more})


def popover(
    label: str, draw: Callable[..., object], *args: Any, key: str, icon: str = "", kind: Kind = "tertiary"
) -> None:
    """Show a box that opens; while it is closed it costs nothing.

    Parameters
    ----------
    label
        What stands on it.
    draw, args
        What is called where it is open, and with what.
    key
        Of the widget.
    icon
        Name of a Material symbol; "" for none.
    kind
        How much it stands out.
    """
    box = st.popover(label, icon=symbol(icon), type=kind, key=key, on_change="rerun")
    if box.open:
        with box:
            draw(*args)


def folded(label: str, draw: Callable[..., object], *args: Any, key: str, icon: str = "") -> None:
    """Show a part of the page that is folded away; while it is closed it costs nothing.

    Parameters
    ----------
    label, draw, args, key, icon
        As `popover` takes them.
    """
    box = st.expander(label, icon=symbol(icon), key=key, on_change="rerun")
    if box.open:
        with box:
            draw(*args)


# ---- lines and headings ----------------------------------------------------------------------------------------------


def beside(**more: Any) -> DeltaGenerator:
    """A place whose parts stand beside each other, in as many lines as the screen needs; `more` are its options."""
    return st.container(horizontal=True, vertical_alignment="center", **more)


def heading(title: str) -> DeltaGenerator:
    """Show the title of a page that is about something with a name; return the place at the right."""
    with beside(horizontal_alignment="distribute"):
        st.title(plain(title), width="content", anchor=False)
        return beside(width="content")


def openable(title: str, about: str, act: Callable[..., object], *args: object, key: str) -> None:
    """Show a line of a list of the past, with the button that opens it.

    Parameters
    ----------
    title
        What it is, in Markdown.
    about
        The same in detail, in Markdown.
    act, args
        What is called when it is opened, before the page runs, and with what.
    key
        Of the button.
    """
    with beside():
        st.markdown(f"{title}  \n:gray[:small[{about}]]", width="stretch")
        button("Open", act, *args, key=key)


# ---- fields ----------------------------------------------------------------------------------------------------------


def bound(
    widget: Callable[..., Any],
    label: str,
    *options: Any,
    key: str,
    now: Any,
    change: Callable[[Any], object],
    **more: Any,
) -> None:
    """Show a widget for a value that is kept elsewhere; it takes effect at once, or where that fails shows what is.

    A choice that is cleared changes nothing: with `required` Streamlit would write that beside each name.

    Parameters
    ----------
    widget
        A function of Streamlit.
    label
        Its first argument.
    options
        Its further arguments by place; of a choice what can be chosen, as a table of what each is called or as a list.
    key
        Of the widget.
    now
        What it shows, whatever it showed before.
    change
        Called with what a person makes of it, before the page runs.
    more
        Further arguments by name.
    """
    if options and isinstance(options[0], Mapping):
        options, more = (list(options[0]),), {"format_func": options[0].__getitem__, **more}
    st.session_state[key] = now  # and no default beside it, of which Streamlit would warn

    def changed() -> None:
        if st.session_state[key] is not None or widget is not st.selectbox:
            change(st.session_state[key])

    widget(label, *options, key=key, on_change=toast_errors(changed), **more)


def kept_in(owner: object, name: str) -> dict[str, Any]:
    """For `bound`: the value is an attribute of this object.

    Parameters
    ----------
    owner
        The object.
    name
        Of the attribute.
    """
    return {"now": getattr(owner, name), "change": partial(setattr, owner, name)}


def choose(label: str, titles: Mapping[T, str], *, widget: Callable[..., Any] = st.selectbox, **more: Any) -> Any:
    """Show a choice of several, and return what was chosen.

    Parameters
    ----------
    label
        Above the field.
    titles
        What can be chosen, and what it is called.
    widget
        A function of Streamlit for choices.
    more
        Further options of it.
    """
    return widget(label, list(titles), format_func=titles.__getitem__, **more)


def choose_one(label: str, options: Sequence[Any], default: Any, *, key: str, **more: Any) -> Any:
    """Show a choice of one of a few, beside each other, and return what was chosen.

    Parameters
    ----------
    label
        Above the field.
    options
        What can be chosen.
    default
        That one of them which is chosen at first.
    key
        Of the widget.
    more
        Further options of `st.segmented_control`.
    """
    return st.segmented_control(label, options, default=default, required=True, key=key, **more)


def choose_several(label: str, titles: Mapping[T, str], **more: Any) -> list[T]:
    """Show a choice of any number of a few, and return those chosen, in the order of the table.

    Parameters
    ----------
    label
        Above the field.
    titles
        What can be chosen, and what it is called.
    more
        Further options of `st.pills`.
    """
    chosen = choose(label, titles, widget=st.pills, selection_mode="multi", **more)
    return [one for one in titles if one in chosen]


def number_field(name: str, value: float | None, *, key: str, most: float | None = None, **more: Any) -> Any:
    """Show a field for a number of a run; None where it is empty, as it may be where it begins so.

    Parameters
    ----------
    name
        Of a field of a run: title, limits, step and words are those of `pll.runs.description`.
    value
        What it begins with.
    key
        Of the widget.
    most
        A limit below that of the field.
    more
        Further options of `st.number_input`.
    """
    one = RUN_FIELDS[name]
    kind = int if one.kind == "whole" else float
    limits = kind(one.least), kind(one.most if most is None else most)
    begin = None if value is None else kind(value)
    return st.number_input(one.title, *limits, begin, kind(one.step), key=key, **{"help": one.sentence, **more})


def share_slider(
    name: str, value: float, *, key: str, most: float | None = None, title: str = "", **more: Any
) -> float:
    """Show a slider for a number of a run that is always given: a probability or a share.

    Parameters
    ----------
    name
        Of a field of a run.
    value
        What it begins with.
    key
        Of the widget.
    most
        A limit below that of the field.
    title
        Where it is another one than that of the field.
    more
        Further options of `st.slider`.
    """
    one = RUN_FIELDS[name]
    limits = float(one.least), float(one.most if most is None else most)
    words = {"help": one.sentence, **more}
    st.session_state.setdefault(key, float(value))  # and no default beside it, of which Streamlit would warn
    chosen: float = st.slider(title or one.title, *limits, step=one.step, key=key, **words)
    return round(chosen, 6)


# ---- figures and tables ----------------------------------------------------------------------------------------------


class ShownFigure(NamedTuple):
    """One figure.

    Attributes
    ----------
    name
        Above the number.
    value
        The number as people read it.
    hint
        What it is, where the pointer rests; "" for nothing.
    below
        A few words below it; "" for none.
    """

    name: str
    value: str
    hint: str = ""
    below: str = ""


def show_figures(figures: Sequence[ShownFigure], *, width: int = 140) -> None:
    """Show figures beside each other, in as many lines as the screen needs.

    Parameters
    ----------
    figures
        From left to right.
    width
        Pixels of each, at least.
    """
    cells = st.grid(len(figures), min_column_width=width, gap="small")
    for name, value, hint, below in figures:
        with cells.cell(), st.container(gap=None):
            st.metric(name, value, help=hint or None)
            if below:
                st.caption(below)


def heading_of(column: str) -> str:
    """Return the heading of a column of ours: with a capital, unless it begins with a mathematical symbol.

    Examples
    --------
    >>> heading_of("labels each"), heading_of("n"), heading_of("w · ℓ")
    ('Labels each', 'n', 'w · ℓ')
    """
    return column[0].upper() + column[1:] if len(column.split()[0]) > 1 else column


def show_table(
    table: pd.DataFrame,
    alt: str,
    *,
    formats: Mapping[str, str] | None = None,
    config: Mapping[str, Any] | None = None,
    names: Collection[object] = (),
    **more: Any,
) -> Any:
    """Show a table; return what is selected of it, where that can be.

    Parameters
    ----------
    table
        What is shown.
    alt
        What is to be seen, for those who do not see it.
    formats
        How the numbers of a column are written, as Streamlit takes it.
    config
        How columns are shown, as Streamlit takes it.
    names
        Columns called by what users call something, such as a class.
    more
        Further options of `st.dataframe`.
    """
    columns = {name: st.column_config.NumberColumn(format=one) for name, one in (formats or {}).items()}
    columns = _headed([str(one) for one in table if one not in names], columns | dict(config or {}))
    return st.dataframe(table, hide_index=True, alt=alt, column_config=columns, **more)


def _headed(names: Sequence[str], config: Mapping[str, Any]) -> dict[str, Any]:
    """How columns are shown, each below its heading."""
    return {**config, **{name: {**config.get(name, {}), "label": heading_of(name)} for name in names}}


VISIBLE_CORRECTED = 12
"""Rows of the table of what may be corrected that show without scrolling, at most."""


def correct(
    cells: Mapping[str, Any],
    now: Mapping[str, str | None],
    choices: Mapping[str, str] | Sequence[str],
    save: Callable[[list[str], str], object],
    *,
    what: tuple[str, str],
    key: str,
    only_alone: Collection[str] = (),
    config: Mapping[str, Any] | None = None,
    **more: Any,
) -> None:
    """Show what each of some things is, and two fields that correct it: which of them, and what they are instead.

    Parameters
    ----------
    cells
        The table that shows them, by column.
    now
        What each of them is, by its name; None where that is open.
    choices
        What they can be, with what each is called, or as a list.
    save
        Called with the things that a person chose and what they are.
    what
        What the two fields are called.
    key
        Of the first field; those of the other begin with it.
    only_alone
        Choices for one thing alone.
    config
        How columns are shown, as Streamlit takes it.
    more
        Further options of the second field.
    """
    import pandas as pd  # late: the home page shows no table

    def change(choice: str) -> None:
        save(st.session_state[key], choice)
        st.session_state[key] = []

    with st.container(horizontal=True):
        chosen = st.multiselect(what[0], list(now), key=key, placeholder="Type or choose", select_all=False)
        kinds = {now[name] for name in chosen}
        options: Any = [one for one in choices if len(chosen) < 2 or one not in only_alone]
        options = {one: choices[one] for one in options} if isinstance(choices, Mapping) else options
        bound(
            st.selectbox,
            what[1],
            options,
            key=f"{key}-becomes",
            now=kinds.pop() if len(kinds) == 1 else None,
            change=change,
            index=None,
            disabled=not chosen,
            **more,
        )
    height = TABLE_ROW * (min(len(now), VISIBLE_CORRECTED) + 1) + 2
    show_table(pd.DataFrame(cells), f"{what[0]}, with what each is", config=config, height=height)


def undo_all(edits: str) -> None:
    """Show the button that forgets the edits which the session state has under a key."""
    is_edited, key = bool(st.session_state.get(edits)), f"{edits}-undo"
    button("Undo all", st.session_state.pop, edits, None, icon="undo", disabled=not is_edited, key=key)
