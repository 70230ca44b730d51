import { afterEach, beforeEach, mock } from 'node:test';
import type { ComponentChild } from 'preact';
import { forgetToken } from '../../../console/api/token.js';
import { FakeElement } from './fake-dom.js';
import { FakePage } from './fake-page.js';
import { show, type Shown } from './show.js';

/** A tab of its own for each test of a `describe`, whose time stands still unless it is moved. */
export interface OpenTab {
  readonly page: FakePage;
  open(part: ComponentChild): Promise<Shown>;
  /** Lets time pass, and what waits for it go on. */
  pass(shown: Shown, milliseconds: number): Promise<void>;
  /** Answers requests by the part of their line that each begins with; others with an empty object. */
  serve(answers: Readonly<Record<string, () => Response | Promise<Response>>>): void;
}

export function openTab(now = '2026-06-01T12:00:00Z'): OpenTab {
  let page = new FakePage();
  let shown: Shown[] = [];
  beforeEach(() => {
    page = new FakePage();
    page.enter();
    shown = [];
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse(now) });
  });
  afterEach(async () => {
    for (const one of shown) await one.leave();
    forgetToken();
    mock.timers.reset();
    page.leave();
  });
  return {
    get page() {
      return page;
    },
    async open(part) {
      const one = await show(page, part);
      shown.push(one);
      return one;
    },
    pass: (one, milliseconds) => one.act(() => mock.timers.tick(milliseconds)),
    serve(answers) {
      page.answer = () => {
        const line = page.lines.at(-1) ?? '';
        const found = Object.entries(answers).find(([begin]) => line.startsWith(begin));
        return found === undefined ? Response.json({}) : found[1]();
      };
    },
  };
}

/** An answer with a list, of which there may be more. */
export function listed(items: readonly object[], total = items.length): Response {
  return Response.json(items, { headers: { 'x-total-count': String(total) } });
}

/** An answer with a document that has an ETag. */
export function tagged(body: unknown, etag = '"1"'): Response {
  return Response.json(body, { headers: { etag } });
}

/** Lets elements have roots of their own, as editors want them. @returns the elements to which one was attached */
export function shadowRoots(): () => readonly FakeElement[] {
  let roots: FakeElement[] = [];
  function attachShadow(this: FakeElement & { shadowRoot?: object }): object {
    roots.push(this);
    return (this.shadowRoot = { of: this });
  }
  beforeEach(() => {
    roots = [];
    Object.defineProperty(FakeElement.prototype, 'attachShadow', { configurable: true, value: attachShadow });
  });
  afterEach(() => Reflect.deleteProperty(FakeElement.prototype, 'attachShadow'));
  return () => roots;
}
