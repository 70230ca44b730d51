/** As much of a document as Preact needs to show a part of a page, and a test to read and use it. */

type Listener = (event: unknown) => void;

class FakeNode {
  parentNode: FakeElement | null = null;
  readonly childNodes: FakeNode[] = [];

  constructor(readonly nodeType: number) {}

  get firstChild(): FakeNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): FakeNode | null {
    const siblings = this.parentNode?.childNodes ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  get textContent(): string {
    return this.childNodes.map(({ textContent }) => textContent).join('');
  }

  remove(): void {
    this.parentNode?.removeChild(this);
  }

  contains(other: FakeNode | null): boolean {
    return other !== null && (other === this || this.contains(other.parentNode));
  }
}

class FakeText extends FakeNode {
  constructor(public data: string) {
    super(3);
  }

  override get textContent(): string {
    return this.data;
  }
}

export class FakeElement extends FakeNode {
  readonly attributes = new Map<string, unknown>();
  readonly style: Record<string, unknown> = {};
  readonly namespaceURI = 'http://www.w3.org/1999/xhtml';
  readonly #listeners = new Map<string, Listener>();
  value: string | undefined;
  checked: boolean | undefined;
  /** That it is here tells Preact how an event is called. */
  readonly onclick = null;
  readonly oninput = null;
  readonly onchange = null;
  readonly onsubmit = null;
  readonly onblur = null;
  readonly oncancel = null;

  constructor(
    readonly localName: string,
    private readonly page: FakeDocument,
  ) {
    super(1);
  }

  insertBefore(child: FakeNode, before: FakeNode | null): FakeNode {
    child.parentNode?.removeChild(child);
    const at = before === null ? -1 : this.childNodes.indexOf(before);
    this.childNodes.splice(at === -1 ? this.childNodes.length : at, 0, child);
    child.parentNode = this;
    return child;
  }

  appendChild(child: FakeNode): FakeNode {
    return this.insertBefore(child, null);
  }

  removeChild(child: FakeNode): FakeNode {
    this.childNodes.splice(this.childNodes.indexOf(child), 1);
    child.parentNode = null;
    return child;
  }

  setAttribute(name: string, value: unknown): void {
    this.attributes.set(name, value);
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  addEventListener(name: string, listener: Listener): void {
    this.#listeners.set(name, listener);
  }

  removeEventListener(name: string): void {
    this.#listeners.delete(name);
  }

  /** Calls who listens to it here: no event goes further up in these tests. */
  send(type: string, more: object = {}): void {
    const event = { type, currentTarget: this, target: this, preventDefault: () => undefined, ...more };
    this.#listeners.get(type)?.call(this, event);
  }

  focus(): void {
    this.page.activeElement = this;
  }

  showModal(): void {
    this.setAttribute('open', true);
  }

  /** All elements in it, in their order. */
  get all(): readonly FakeElement[] {
    return this.childNodes.flatMap((one) => (one instanceof FakeElement ? [one, ...one.all] : []));
  }

  /** How it is called: what labels it, else its text. */
  get name(): string {
    const label = this.attributes.get('aria-label');
    return (typeof label === 'string' ? label : this.textContent).replaceAll(/\s+/g, ' ').trim();
  }

  get isDisabled(): boolean {
    return this.attributes.get('disabled') === true;
  }
}

export class FakeDocument {
  activeElement: FakeElement | null = null;

  createElement(name: string): FakeElement {
    return new FakeElement(name, this);
  }

  createTextNode(data: string): FakeNode {
    return new FakeText(data);
  }
}
