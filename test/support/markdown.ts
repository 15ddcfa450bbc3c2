/** A link of a document: what it names, and the line it stands in, counted from 1. */
export type MarkdownLink = { readonly target: string; readonly line: number };

/** A text in backticks, and the line it stands in, counted from 1. */
export type MarkdownCode = { readonly text: string; readonly line: number };

const FENCE = /^\s*(```|~~~)/;
const CODE = /`([^`]+)`/g;
const LINK = /\[[^\]]*\]\(([^()\s]+)\)/g;

/** The lines of a document that are not in a block of code; those that are become empty. */
function proseLines(document: string): string[] {
  let fenced = false;
  return document.split('\n').map((line) => {
    const isFence = FENCE.test(line);
    if (isFence) fenced = !fenced;
    return fenced || isFence ? '' : line;
  });
}

/** All links of a document but those in code. */
export function markdownLinks(document: string): MarkdownLink[] {
  return proseLines(document).flatMap((line, index) =>
    [...line.replaceAll(CODE, '').matchAll(LINK)].map(([, target = '']) => ({ target, line: index + 1 })),
  );
}

/** All texts in backticks, blocks of code left out. */
export function markdownCode(document: string): MarkdownCode[] {
  return proseLines(document).flatMap((line, index) =>
    [...line.matchAll(CODE)].map(([, text = '']) => ({ text, line: index + 1 })),
  );
}

/** Headings of a document, without their `#`. */
export function markdownHeadings(document: string): string[] {
  return proseLines(document).flatMap((line) => /^#{1,6}\s+(.*?)\s*$/.exec(line)?.[1] ?? []);
}

/** Anchors of the headings of a document, as GitHub makes them. */
export function markdownAnchors(document: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const heading of markdownHeadings(document)) {
    const words = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    let anchor = words;
    for (let again = 1; anchors.has(anchor); again += 1) anchor = `${words}-${String(again)}`;
    anchors.add(anchor);
  }
  return anchors;
}
