import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock } from 'node:test';
import { Window } from 'happy-dom';
import { h, render, type ComponentChild } from 'preact';
import { act } from 'preact/test-utils';
import { clearToken } from '../../../console/api/token.js';
import { clearDrafts, restoreDrafts } from '../../../console/shared/drafts.js';

/** One request as it was sent. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  readonly cache: string;
  readonly signal: AbortSignal;
}

/** Answers a request, or throws the error that `fetch` would throw. */
export type Answer = (request: SentRequest, index: number) => Response | Promise<Response>;

/** The location of the pages in these tests: below the path of a gateway in front. */
export const HOME = 'https://gateway.test/city/';

/** The document of all tabs of this process, which exist one after the other. */
const dom = new Window({ url: `${HOME}console/` });

/** The storage of a tab or a browser; it may be switched off. */
class FakeStorage {
  readonly kept = new Map<string, string>();
  isOff = false;

  getItem(name: string): string | null {
    this.#require();
    return this.kept.get(name) ?? null;
  }

  setItem(name: string, value: string): void {
    this.#require();
    this.kept.set(name, value);
  }

  removeItem(name: string): void {
    this.#require();
    this.kept.delete(name);
  }

  #require(): void {
    if (this.isOff) throw new DOMException('The storage is switched off.', 'SecurityError');
  }
}

class FakeLocation {
  hash = '';
  href = `${HOME}console/`;
  readonly replaced: string[] = [];
  /** The addresses to which the page was left. */
  readonly assigned: string[] = [];
  reloads = 0;

  reload(): void {
    this.reloads += 1;
  }

  assign(url: string): void {
    this.assigned.push(url);
  }

  replace(hash: string): void {
    this.replaced.push(hash);
  }
}

class FakeHistory {
  readonly state: unknown = { kept: true };
  readonly replaced: (readonly [unknown, string])[] = [];

  replaceState(state: unknown, _title: string, hash: string): void {
    this.replaced.push([state, hash]);
  }
}

/**
 * The parts of a tab: a document of happy-dom, storages, an address, events, and the network. Each test of a `describe` gets a
 * new tab.
 */
export class Tab {
  session = new FakeStorage();
  local = new FakeStorage();
  window = new EventTarget();
  /** The answer to any question about the screen. */
  media = Object.assign(new EventTarget(), { matches: false });
  location = new FakeLocation();
  history = new FakeHistory();
  sent: SentRequest[] = [];
  answer: Answer = () => Response.json({});
  #shown: Shown[] = [];
  #leave: () => void = () => undefined;

  /** Replaces the globals by those of the tab. @param hasShadows whether editors can be shown, which need a shadow root */
  enter(hasShadows: boolean): void {
    const { session, local, location, history, window, media } = Object.assign(this, {
      session: new FakeStorage(),
      local: new FakeStorage(),
      window: new EventTarget(),
      media: Object.assign(new EventTarget(), { matches: false }),
      location: new FakeLocation(),
      history: new FakeHistory(),
      sent: [],
      answer: () => Response.json({}),
    });
    const globals = {
      document: dom.document,
      HTMLElement: dom.HTMLElement,
      location,
      history,
      sessionStorage: session,
      localStorage: local,
      matchMedia: () => media,
      fetch: (...request: ConstructorParameters<typeof Request>) => this.#fetch(new Request(...request)),
      addEventListener: window.addEventListener.bind(window),
      removeEventListener: window.removeEventListener.bind(window),
    };
    const before = Object.keys(globals).map(
      (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
    );
    for (const [name, value] of Object.entries(globals))
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    if (!hasShadows) Object.assign(dom.HTMLElement.prototype, { attachShadow: undefined });
    this.#leave = () => {
      Reflect.deleteProperty(dom.HTMLElement.prototype, 'attachShadow');
      for (const [name, was] of before)
        if (was === undefined) Reflect.deleteProperty(globalThis, name);
        else Object.defineProperty(globalThis, name, was);
    };
  }

  async leave(): Promise<void> {
    for (const one of this.#shown.splice(0)) await one.leave();
    this.session.isOff = false;
    clearToken();
    // Also forgets the drafts that no storage took.
    restoreDrafts();
    clearDrafts();
    this.show(true);
    this.#leave();
  }

  /** Shows a part of a page. */
  async open(part: ComponentChild): Promise<Shown> {
    const one = new Shown();
    this.#shown.push(one);
    await one.give(part);
    return one;
  }

  /** Runs a hook in a component that shows nothing. */
  async run<Input, Output>(
    hook: (input: Input) => Output,
    input: NoInfer<Input>,
  ): Promise<RunningHook<Input, Output>> {
    let last: { readonly output: Output } | undefined;
    const Component = (props: { readonly input: Input }) => {
      last = { output: hook(props.input) };
      return null;
    };
    const one = await this.open(h(Component, { input }));
    return {
      get now() {
        return (last ?? assert.fail('The hook was not called.')).output;
      },
      give: (next) => one.give(h(Component, { input: next })),
      act: (work) => one.act(work),
      pass: (milliseconds) => one.pass(milliseconds),
      leave: () => one.leave(),
    };
  }

  /** Hides the tab, or shows it again. */
  show(isShown: boolean): void {
    Object.defineProperty(document, 'hidden', { value: !isShown, configurable: true });
    document.dispatchEvent(eventOf('visibilitychange'));
  }

  /** Answers requests by the beginning of their line; others with an empty object. */
  serve(answers: Readonly<Record<string, () => Response | Promise<Response>>>): void {
    this.answer = () => {
      const line = this.lines.at(-1) ?? '';
      const found = Object.entries(answers).find(([begin]) => line.startsWith(begin));
      return found === undefined ? Response.json({}) : found[1]();
    };
  }

  /** Holds requests until a test answers them. @returns the functions that answer them, in order */
  hold(): readonly ((response: Response) => void)[] {
    const answers: ((response: Response) => void)[] = [];
    this.answer = () => new Promise<Response>((resolve) => answers.push(resolve));
    return answers;
  }

  /** Requests as `GET path`, relative to the gateway. */
  get lines(): readonly string[] {
    return this.sent.map(({ method, url }) => `${method} ${url.replace(HOME, '')}`);
  }

  /** Requests that are not reads. */
  get writes(): readonly SentRequest[] {
    return this.sent.filter(({ method }) => method !== 'GET');
  }

  async #fetch(sent: Request): Promise<Response> {
    const { method, url, headers, cache, signal } = sent;
    const request = { method, url, headers, cache, signal, body: await sent.text() };
    this.sent.push(request);
    signal.throwIfAborted();
    let abort = () => {};
    const aborted = new Promise<never>((_resolve, reject) => {
      abort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', abort);
    });
    try {
      return await Promise.race([aborted, this.answer(request, this.sent.length - 1)]);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }
}

/** A part of a page as it is shown, to be read and used as by a person. */
export class Shown {
  readonly #root = document.body.appendChild(document.createElement('div'));

  /** The whole visible text. */
  get text(): string {
    return nameOf(this.#root);
  }

  /** The elements that match a selector. */
  all(selector: string): readonly Element[] {
    return [...this.#root.querySelectorAll(selector)];
  }

  /** The names of the buttons; those that do nothing at the moment in brackets. */
  get buttons(): readonly string[] {
    return this.all('button').map((one) =>
      one.matches('[disabled], [aria-disabled="true"]') ? `(${nameOf(one)})` : nameOf(one),
    );
  }

  /** The button or link with this name. */
  named(name: string): Element {
    const found = this.all('button, a').find((one) => nameOf(one) === name);
    return found ?? assert.fail(`There is no ${name} among ${this.buttons.join(', ')}`);
  }

  /** The field with a label. */
  field(label: string): HTMLInputElement {
    const of = this.all('label').find((one) => nameOf(one).startsWith(label)) ?? assert.fail(`no ${label}`);
    const id = of.getAttribute('for');
    const places = id === null ? [...of.querySelectorAll('*')] : this.all(`[id="${id}"]`);
    const found = places.find(({ localName }) => ['input', 'select', 'textarea'].includes(localName));
    return (found as HTMLInputElement | undefined) ?? assert.fail(`no field for ${label}`);
  }

  /** Presses a button; a submit button submits its form. */
  async press(name: string): Promise<void> {
    const button = this.named(name);
    assert.ok(!button.hasAttribute('disabled'), `${name} waits`);
    if (button.getAttribute('type') === 'submit') await this.submit();
    else await this.#send(button, 'click');
  }

  /** Submits the form, as the Enter key does. */
  async submit(): Promise<void> {
    await this.#send(this.all('form').at(-1) ?? assert.fail('no form'), 'submit');
  }

  async type(label: string, value: string): Promise<void> {
    const field = this.field(label);
    field.value = value;
    await this.#send(field, 'input');
  }

  async choose(label: string, value: string): Promise<void> {
    const field = this.field(label);
    field.value = value;
    await this.#send(field, 'change');
  }

  async tick(label: string, isOn: boolean): Promise<void> {
    const field = this.field(label);
    field.checked = isOn;
    await this.#send(field, 'change');
  }

  /** Chooses files in the first file field. */
  async chooseFiles(files: readonly File[]): Promise<void> {
    const [input = assert.fail('no field for files')] = this.all('input[type="file"]');
    Object.defineProperty(input, 'files', { value: files, configurable: true });
    await this.#send(input, 'change');
  }

  /** Does something that changes the page, and waits for the effects. */
  async act(work: () => unknown = () => undefined): Promise<void> {
    await act(async () => {
      await work();
    });
    // A page that is rendered again may send requests, and is rendered again with the answers.
    for (let round = 0; round < 2; round += 1) await act(settled);
  }

  /** Lets time pass, and waits for the effects. */
  async pass(milliseconds: number): Promise<void> {
    await this.act(() => mock.timers.tick(milliseconds));
  }

  /** Shows something else in the same place, as a parent that is rendered again would. */
  async give(part: ComponentChild): Promise<void> {
    await this.act(() => render(part, this.#root));
  }

  async leave(): Promise<void> {
    await act(() => render(null, this.#root));
    this.#root.remove();
  }

  async #send(element: Element, type: string): Promise<void> {
    await this.act(() => element.dispatchEvent(eventOf(type)));
  }
}

/** An event of the document; events of Node.js are of another class. */
function eventOf(type: string): Event {
  const view = document.defaultView ?? assert.fail();
  return new view.Event(type, { bubbles: true, cancelable: true });
}

/** The name of an element: its label, or else its text. */
export function nameOf(element: Element): string {
  const name = element.getAttribute('aria-label') ?? element.textContent;
  return name.replaceAll(/\s+/g, ' ').trim();
}

/** A running hook, in a component that shows nothing. */
export interface RunningHook<Input, Output> {
  /** The last returned value. */
  readonly now: Output;
  /** Passes another value, as a parent that is rendered again would. */
  give(input: Input): Promise<void>;
  act(work?: () => unknown): Promise<void>;
  pass(milliseconds: number): Promise<void>;
  leave(): Promise<void>;
}

/**
 * A new tab for each test of a `describe`, whose clock only moves on request.
 *
 * @param hasShadows whether editors can be shown; otherwise they are plain fields
 */
export function openTab({
  now = '2026-06-01T12:00:00Z',
  hasShadows = false,
}: { readonly now?: string; readonly hasShadows?: boolean } = {}): Tab {
  const tab = new Tab();
  beforeEach(() => {
    tab.enter(hasShadows);
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse(now) });
  });
  afterEach(async () => {
    await tab.leave();
    mock.timers.reset();
  });
  return tab;
}

/** An answer with a problem. */
export function problem(
  status: number,
  members: object = {},
  headers: Record<string, string> = {},
): Response {
  return Response.json({ title: 'A title', ...members }, { status, headers });
}

/** An answer with a document that has an ETag. */
export function tagged(body: unknown, etag = '"1"'): Response {
  return Response.json(body, { headers: { etag } });
}

/** An answer that is given later. */
export function later<Value>() {
  let give: (value: Value) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const answer = new Promise<Value>((resolve, reject) => {
    give = resolve;
    fail = reject;
  });
  return { answer, give, fail };
}

/** Lets all pending promises continue, without waiting for any time. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
