import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyLook } from '../../../src/server/documents/console-look.ts';

const PAGE = '<html><head><title>hookshelf</title><style>a{b:c}</style></head>'
  + '<script>"</style><title>x</title>"</script></html>';
/** The grounds of src/console/style.css that text in the accent may stand on. */
const LIGHT_GROUNDS = ['#fbfaf7', '#ffffff', '#f3f1ea', '#ecebe5'];
const DARK_GROUNDS = ['#14181a', '#1b2123', '#111517', '#283032'];

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const value = Number.parseInt(colour.slice(start, start + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

test('a page without a setting stays as it is', () => {
  assert.equal(applyLook(PAGE, { title: 'hookshelf', accent: null, images: false }), PAGE);
});

test('a page that may load images says so to its script', () => {
  assert.equal(applyLook(PAGE, { title: 'hookshelf', accent: null, images: true }),
    PAGE.replace('<html>', '<html data-images>'));
});

test('a title is text, whatever it holds', () => {
  const page = applyLook(PAGE, { title: '</title><script>$& "a"', accent: null, images: false });
  assert.ok(page.startsWith(
    '<html><head><title>&lt;/title&gt;&lt;script&gt;$&amp; &quot;a&quot;</title><style>'), page);
  assert.equal(page.match(/<script>/g)?.length, 1);
});

// The corners of the cube of colours, greys, and what lies between.
const CHANNELS = ['00', '3c', '80', 'b4', 'ff'];
const COLOURS = CHANNELS.flatMap((red) => CHANNELS.flatMap((green) =>
  CHANNELS.map((blue) => `#${red}${green}${blue}`)));
for (const colour of COLOURS) {
  test(`with ${colour} all that has the accent can be read, light and dark`, () => {
    const page = applyLook(PAGE, { title: 'Acme', accent: colour, images: false });
    const [light = '', dark = '', fill = '', onFill = ''] = page.match(/#\w{6}/g) ?? [];
    assert.equal(fill, colour);
    assert.ok(contrast(fill, onFill) >= 4.5, onFill);
    for (const ground of LIGHT_GROUNDS) assert.ok(contrast(light, ground) >= 4.5, light);
    for (const ground of DARK_GROUNDS) assert.ok(contrast(dark, ground) >= 4.5, dark);
    assert.ok(page.includes(`.top{border-top:.25rem solid ${colour}}</style></head>`));
  });
}

test('a colour that can be read is not changed', () => {
  const page = applyLook(PAGE, { title: 'Acme', accent: '#0b6e4f', images: false });
  assert.match(page, /--accent:light-dark\(#0b6e4f,/);
});
