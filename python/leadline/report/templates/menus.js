// A row of <select> menus over a list of items, each item with one key a menu: choosing one narrows those after it.

// `menus` are {label, keys: (item) => value} or {label, options: [[value, text]]}; onChange(item, values) is called at once.
function cascade(form, items, labels, extras, onChange) {
  const chosen = items.length ? [...items[0].keys] : [];
  const picked = Object.fromEntries(extras.map((extra) => [extra.name, extra.initial]));
  const selects = labels.map((label, place) => addSelect(form, label, (value) => choose(place, value)));
  extras.forEach((extra) => {
    const select = addSelect(form, extra.label, (value) => {
      picked[extra.name] = value;
      update();
    });
    fill(select, extra.options, extra.initial);
    select.dataset.menu = extra.name;
  });

  function matching(depth) {
    return items.filter((item) => item.keys.slice(0, depth).every((key, place) => key === chosen[place]));
  }

  // Later menus keep their entry where the new choice has it too.
  function choose(place, value) {
    chosen[place] = value;
    for (let later = place + 1; later < chosen.length; later += 1) {
      const possible = matching(later).map((item) => item.keys[later]);
      if (!possible.includes(chosen[later])) chosen[later] = possible[0];
    }
    update();
  }

  function update() {
    selects.forEach((select, place) => {
      const options = [...new Set(matching(place).map((item) => item.keys[place]))];
      fill(select, options.map((key) => [key, key]), chosen[place]);
      select.closest("label").hidden = options.length < 2;
    });
    onChange(matching(chosen.length)[0], picked);
  }

  update();
  return update;
}

function addSelect(form, text, onPick) {
  const label = document.createElement("label");
  const caption = document.createElement("span");
  const select = document.createElement("select");
  caption.textContent = text;
  select.dataset.menu = text;
  select.addEventListener("change", () => onPick(select.value));
  label.append(caption, select);
  form.append(label);
  return select;
}

function fill(select, options, value) {
  const same = select.options.length === options.length && options.every(([key], place) => select.options[place].value === key);
  if (!same) select.replaceChildren(...options.map(([key, text]) => new Option(text || "all", key)));
  select.value = value;
}

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== undefined && text !== null) made.textContent = text;
  Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
  return made;
}
