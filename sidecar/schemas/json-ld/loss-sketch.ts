import { isMap, type JsonMap } from './json.js';
import { isKept, isOdd } from './odd-parts.js';

/**
 * A text that is the same for nodes of which the same is lost in the same contexts: what `oddParts` keeps of them, without
 * what has no say in that, such as whose entity it is, when something was observed, and which number it was.
 *
 * @param node nested no deeper than the stack allows
 * @param odd see `DocumentSurvey`
 */
export function lossSketch(node: JsonMap, odd: ReadonlySet<object>): string {
  let text = '{';
  for (const name of Object.keys(node)) {
    const value = node[name];
    text += `${name.length}:${name}`;
    if (isIdentifier(name, value)) text += ':';
    else if (!isKept(name, value, odd)) text += '~';
    else if (typeof value !== 'object' || isOdd(value, odd)) text += sketchOf(value, odd);
    else text += `=${JSON.stringify(value)}`;
  }
  return `${text}}`;
}

function sketchOf(value: unknown, odd: ReadonlySet<object>): string {
  if (isMap(value)) return lossSketch(value, odd);
  if (!Array.isArray(value)) return scalarText(value);
  let text = '[';
  for (const item of value as readonly unknown[]) text += sketchOf(item, odd);
  return `${text}]`;
}

function isIdentifier(name: string, value: unknown): boolean {
  return (name === 'id' || name === '@id') && typeof value === 'string' && value.includes(':');
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

/** Each kind of value begins differently, and each text says how long it is: no two values come to the same. */
function scalarText(value: unknown): string {
  if (typeof value === 'string') return DATE_TIME.test(value) ? 'd' : `"${value.length}:${value}`;
  if (typeof value === 'number') return 'n';
  return value === null ? '0' : value === true ? 't' : 'f';
}
