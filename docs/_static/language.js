// Which language a bilingual page shows: both, English or 中文. Without this script it shows both.
(() => {
  const choices = { both: "EN + 中文", en: "English", zh: "中文" };
  const root = document.documentElement;

  const choose = (name) => {
    root.dataset.language = name;
    root.lang = name === "zh" ? "zh" : "en";
    try { localStorage.setItem("language", name); } catch { /* a page opened as a file may have no storage */ }
    for (const button of document.querySelectorAll(".languages button")) {
      button.setAttribute("aria-pressed", String(button.dataset.language === name));
    }
  };

  let stored = "both";
  try { stored = localStorage.getItem("language") ?? "both"; } catch { /* as above */ }
  choose(stored in choices ? stored : "both");

  // "The data · 数据" becomes two parts, each in its own language
  const split = (element) => {
    for (const node of [...element.childNodes]) {
      const at = node.nodeType === Node.TEXT_NODE ? node.data.indexOf(" · ") : -1;
      if (at < 0 || !/[\u4e00-\u9fff]/.test(node.data.slice(at))) continue;
      const section = node.data.match(/^(?:[\d.]+|ex\d\d) /)?.[0] ?? "";
      const parts = [["en", node.data.slice(section.length, at)], ["dot", " · "], ["zh", node.data.slice(at + 3)]];
      const spans = parts.map(([name, text]) => {
        const span = document.createElement("span");
        span.textContent = text;
        span.lang = name === "zh" ? "zh" : "en";
        span.className = name === "dot" ? "between" : "";
        return span;
      });
      node.replaceWith(section, ...spans);
    }
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("h1, h2, h3, summary span, .caption-text, .sidebar-tree a, .toc-tree a, .toctree-wrapper a, " +
      ".sphx-glr-thumbnail-title, .related-pages .title, .std-ref").forEach(split);
    const bar = document.createElement("div");
    bar.className = "languages";
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Language · 语言");
    for (const [name, label] of Object.entries(choices)) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.language = name;
      button.textContent = label;
      button.addEventListener("click", () => choose(name));
      bar.append(button);
    }
    document.querySelector("article[role=main], [role=main], main")?.before(bar);
    choose(root.dataset.language);
  });
})();
