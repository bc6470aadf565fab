/** Text of an OpenAPI document as HTML. Whatever comes from the document goes through here. */

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Text in which `…` is code. */
export function renderText(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

/** The `id` of what has that name, for links within the page. */
export function toAnchor(text: string): string {
  return encodeURIComponent(text.replace(/^\//, '').replace(/\W+/g, '-'));
}

/** A table of cells that are HTML; nothing when it has no rows. */
export function renderTable(
  heads: readonly string[], rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return '';
  const head = heads.map((text) => `<th>${text}</th>`).join('');
  const body = rows.map((row) =>
    `<tr>${row.map((cell) => `<td>${cell}</td>`).join('')}</tr>`).join('');
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

/** Code with a button that copies it, which is shown where scripts run. */
export function renderCode(html: string): string {
  return '<div class="code"><button type="button" class="copy" hidden>Copy</button>'
    + `<pre><code>${html}</code></pre></div>`;
}
