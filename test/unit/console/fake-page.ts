import { FakeElement } from './fake-dom.js';

/** One request as it was sent. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
  readonly cache: string;
  readonly signal: AbortSignal;
}

/** Answers a request, or throws what `fetch` would throw. */
export type Answer = (request: SentRequest, index: number) => Response | Promise<Response>;

/** Where the pages of these tests are: below the path of a gateway in front. */
export const HOME = 'https://gateway.test/city/';

/** Stands in for what a tab has: its document, storages, address, events, and the network. */
export class FakePage {
  /** The editor reads the style of a page where its module is loaded, which another test file may do meanwhile. */
  readonly document = Object.assign(new EventTarget(), {
    ...{ hidden: false, baseURI: `${HOME}console/` },
    documentElement: { style: {} },
  });
  readonly session = new FakeStorage();
  readonly local = new FakeStorage();
  readonly window = new EventTarget();
  /** What any question about the screen is answered with. */
  readonly media = Object.assign(new EventTarget(), { matches: false });
  readonly location = {
    hash: '',
    replaced: [] as string[],
    replace(hash: string) {
      this.replaced.push(hash);
    },
  };
  readonly history = {
    state: { kept: true } as unknown,
    replaced: [] as (readonly [unknown, string])[],
    replaceState(state: unknown, _title: string, hash: string) {
      this.replaced.push([state, hash]);
    },
  };
  readonly sent: SentRequest[] = [];
  answer: Answer = () => Response.json({});
  readonly #before = new Map<string, PropertyDescriptor | undefined>();

  /** Puts it in place of what is global, until {@link leave} is called. */
  enter(): void {
    const { document, session, local, location, history, window } = this;
    const globals = {
      ...{ document, location, history, sessionStorage: session, localStorage: local },
      HTMLElement: FakeElement,
      fetch: (request: Request) => this.#fetch(request),
      addEventListener: window.addEventListener.bind(window),
      removeEventListener: window.removeEventListener.bind(window),
      matchMedia: () => this.media,
    };
    for (const [name, value] of Object.entries(globals)) {
      this.#before.set(name, Object.getOwnPropertyDescriptor(globalThis, name));
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
    }
  }

  leave(): void {
    for (const [name, before] of this.#before)
      if (before === undefined) Reflect.deleteProperty(globalThis, name);
      else Object.defineProperty(globalThis, name, before);
    this.#before.clear();
  }

  /** Hides the tab, or shows it again. */
  show(isShown: boolean): void {
    this.document.hidden = !isShown;
    this.document.dispatchEvent(new Event('visibilitychange'));
  }

  /** Requests as `GET path`, below where the gateway is. */
  get lines(): readonly string[] {
    return this.sent.map(({ method, url }) => `${method} ${url.replace(HOME, '')}`);
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

/** The storage of a tab or a browser; it may be switched off. */
export class FakeStorage {
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

/** An answer with a problem. */
export function problem(
  status: number,
  members: object = {},
  headers: Record<string, string> = {},
): Response {
  return Response.json({ title: 'A title', ...members }, { status, headers });
}

/** Lets all that is ready go on, without waiting for any time. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
