// Makes dist/console.html, the whole console in one file: its script and its style stand within the
// page, so that the server can name them by their hashes (server/documents/console.ts).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const { outputFiles } = await build({
  entryPoints: { script: 'src/console/main.ts', style: 'src/console/style.css' },
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2023',
  charset: 'utf8',
  legalComments: 'none',
  outdir: 'dist',
  write: false,
  logLevel: 'warning',
});
const page = readFileSync('src/console/page.html', 'utf8')
  .replace('/*style*/', () => textOf('style.css'))
  .replace('/*script*/', () => textOf('script.js'));
mkdirSync('dist', { recursive: true });
writeFileSync('dist/console.html', page);

function textOf(name) {
  return outputFiles.find(({ path }) => path.endsWith(name)).text.trim();
}
