/**
 * The only script of `GET /docs`: it copies code, opens the target of a link and applies the theme
 * of the console. The page's policy allows it by its hash. The page works without it.
 */

export const DOCS_SCRIPT = `
// The theme that was chosen in the console.
document.documentElement.dataset.theme = localStorage.getItem('hookshelf-theme') || 'system';
const reveal = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const details = target && target.closest('details');
  if (details) { details.open = true; target.scrollIntoView(); }
};
const select = (node) => {
  const range = document.createRange();
  range.selectNodeContents(node);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
};
const copy = async (code) => {
  try { await navigator.clipboard.writeText(code.textContent); return true; } catch {
    select(code);
    return document.execCommand('copy');
  }
};
for (const button of document.querySelectorAll('button.copy')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const isCopied = await copy(button.nextElementSibling.firstElementChild);
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl-C';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  });
}
addEventListener('hashchange', reveal);
reveal();
`;
