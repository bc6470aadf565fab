/**
 * Puts the console's settings into its page: the title, the images as `data-images`, which the
 * script reads, and the colour as rules at the end of the style. Pure.
 */
import { escapeHtml } from './page/html.ts';

export type ConsoleLook = {
  readonly title: string;
  /** `#rrggbb` in lower case; null: the colour of style.css. */
  readonly accent: string | null;
  /** Whether the browser may load images of books from elsewhere. */
  readonly images: boolean;
};

type Colour = readonly [red: number, green: number, blue: number];

/** WCAG 2.2, success criterion 1.4.3. */
const CONTRAST_MIN = 4.5;
const MIX_STEPS = 100;
const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];
/** The ground of style.css, in each theme, on which text in the accent stands out least. */
const LIGHT_GROUND: Colour = [0xec, 0xeb, 0xe5];
const DARK_GROUND: Colour = [0x28, 0x30, 0x32];

export function applyLook(page: string, { title, accent, images }: ConsoleLook): string {
  const titledPage = page
    .replace(/<title>[^<]*<\/title>/, () => `<title>${escapeHtml(title)}</title>`)
    .replace('<html', images ? '<html data-images' : '<html');
  return accent === null ? titledPage
    : titledPage.replace('</style>', () => `${formatRules(parseColour(accent))}</style>`);
}

/**
 * Buttons and the edge of the page have the colour as it is. Text, lines and the frame of the focus
 * have a mixture that is dark enough, or light enough, for each theme.
 */
function formatRules(accent: Colour): string {
  const onFill = computeContrast(accent, WHITE) >= computeContrast(accent, BLACK) ? WHITE : BLACK;
  const fill = formatColour(accent);
  return `:root{--accent:light-dark(${formatColour(mixUntilReadable(accent, BLACK, LIGHT_GROUND))},`
    + `${formatColour(mixUntilReadable(accent, WHITE, DARK_GROUND))});`
    + `--fill:${fill};--on-fill:${formatColour(onFill)}}`
    + `.top{border-top:.25rem solid ${fill}}`;
}

/** The least mixture of the colour with the other that can be read on the ground. */
function mixUntilReadable(colour: Colour, other: Colour, ground: Colour): Colour {
  for (let step = 0; step < MIX_STEPS; step += 1) {
    const mix = (from: number, to: number): number =>
      Math.round(from + (to - from) * step / MIX_STEPS);
    const mixture: Colour =
      [mix(colour[0], other[0]), mix(colour[1], other[1]), mix(colour[2], other[2])];
    if (computeContrast(mixture, ground) >= CONTRAST_MIN) return mixture;
  }
  return other;
}

/** From 1, for the same luminance, to 21 (WCAG 2.2, "contrast ratio"). */
function computeContrast(one: Colour, other: Colour): number {
  const luminances = [computeLuminance(one), computeLuminance(other)];
  return (Math.max(...luminances) + 0.05) / (Math.min(...luminances) + 0.05);
}

/** WCAG 2.2, "relative luminance". */
function computeLuminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function parseColour(text: string): Colour {
  const value = Number.parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 0xff, value & 0xff];
}

function formatColour(colour: Colour): string {
  return `#${colour.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
