/** Converts text to HTML. All text of an OpenAPI document goes through here. */

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Renders text in which `…` marks code. */
export function renderText(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** The `id` of a named element, for links within the page. */
export function toAnchor(text: string): string {
  return encodeURIComponent(text.replace(/^\//, '').replace(/\W+/g, '-'));
}

/** A table whose cells are HTML; empty without rows. */
export function renderTable(
  heads: readonly string[], rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return '';
  const head = heads.map((text) => `<th>${text}</th>`).join('');
  const body = rows.map((row) =>
    `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

/** Code with a button that copies it. The script shows the button. */
export function renderCode(html: string): string {
  return '<div class="code"><button type="button" class="copy" hidden>Copy</button>'
    + `<pre><code>${html}</code></pre></div>`;
}
