/**
 * Whether a text that is not JSON is JSON with comments, as the settings of many tools are; commas may stand before closing
 * brackets then, too. No tool for JSON Schema or JSON-LD reads such a file. Takes linear time but for the parsing.
 */
export function isJsonWithComments(text: string): boolean {
  const bare = withoutComments(text);
  if (bare === undefined || bare.length === text.length) return false;
  try {
    JSON.parse(withoutTrailingCommas(bare));
    return true;
  } catch {
    return false;
  }
}

/** The text without its comments; undefined where one does not end. */
function withoutComments(text: string): string | undefined {
  let bare = '';
  let at = 0;
  while (at < text.length) {
    const end = startOf(text, at, '/');
    bare += text.slice(at, end);
    at = end;
    if (text[at + 1] === '/') {
      const line = text.indexOf('\n', at);
      at = line === -1 ? text.length : line;
    } else if (text[at + 1] === '*') {
      const close = text.indexOf('*/', at + 2);
      if (close === -1) return undefined;
      at = close + 2;
    } else if (at < text.length) {
      bare += text.charAt(at);
      at += 1;
    }
  }
  return bare;
}

function withoutTrailingCommas(text: string): string {
  let kept = '';
  let at = 0;
  while (at < text.length) {
    const end = startOf(text, at, ',');
    kept += text.slice(at, end);
    const next = end + 1 + (/^\s*/.exec(text.slice(end + 1, end + 1 + MAX_GAP))?.[0].length ?? 0);
    if (text[end] === ',' && text[next] !== '}' && text[next] !== ']') kept += ',';
    at = end + 1;
  }
  return kept;
}

/** Blanks between a comma and the bracket behind it. */
const MAX_GAP = 1000;

/** Where a character stands next outside of strings; the end of the text where it does not. */
function startOf(text: string, from: number, character: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === character) return at;
    if (text[at] !== '"') continue;
    for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
  }
  return text.length;
}
