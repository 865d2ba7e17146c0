// What components of cards and keys are made of.

function element(kind, className, parent, text) {
  const made = document.createElement(kind);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

/** The picture of an example: small ones, which come as PNG, with their pixels as they are. */
function picture(source, parent, alt) {
  const image = element("img", source.startsWith("data:image/png") ? "pixels" : "", parent);
  image.src = source;
  image.alt = alt;
  image.decoding = "sync";
  return image;
}
