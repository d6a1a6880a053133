// A layer with one query only, as of a classifier: the keys as running text, shaded by their weights.

class Reading {
  constructor(root, actions) {
    this.root = root;
    const at = (event) => {
      const item = event.target.closest("span");
      return item ? { row: 0, column: [...root.children].indexOf(item) } : null;
    };
    root.addEventListener("pointerover", (event) => actions.point(at(event), event));
    root.addEventListener("pointerleave", () => actions.point(null));
    root.addEventListener("click", (event) => actions.pin(at(event)));
  }

  show(matrix, keys, most) {
    const colours = palette(false);
    this.root.replaceChildren(
      ...keys.map((token, i) => {
        const colour = colours[place(matrix.usable(0, i), most, false)];
        const item = element("span", { textContent: token });
        item.style.backgroundColor = css(colour);
        item.style.color = inkOn(colour);
        item.toggleAttribute("data-masked", matrix.masked(0, i));
        return item;
      }),
    );
  }

  draw(focus) {
    [...this.root.children].forEach((item, i) => item.classList.toggle("current", i === focus?.column));
  }
}
