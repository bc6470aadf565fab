/** The anchor of a heading in Markdown, as GitHub makes it. */
export function toHeadingAnchor(heading: string): string {
  return heading.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-');
}
