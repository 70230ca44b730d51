import assert from 'node:assert/strict';
import { render, type ComponentChild } from 'preact';
import { act } from 'preact/test-utils';
import { FakeDocument, type FakeElement } from './fake-dom.js';
import { settled, type FakePage } from './fake-page.js';
import { outlineOf } from './outline.js';

/** A part of a page as it is shown, to be read and used as a person would. */
export class Shown {
  readonly #root: FakeElement;

  constructor(root: FakeElement) {
    this.#root = root;
  }

  /** All that can be read. */
  get text(): string {
    return this.#root.name;
  }

  /** What it says and offers, line by line. */
  get lines(): readonly string[] {
    return outlineOf(this.#root);
  }

  /** The elements of a kind, by their tag. */
  all(tag: string): readonly FakeElement[] {
    return this.#root.all.filter(({ localName }) => localName === tag);
  }

  /** How the buttons are called, those that wait in brackets. */
  get buttons(): readonly string[] {
    return this.all('button').map((one) => (one.isDisabled ? `(${one.name})` : one.name));
  }

  /** The button or link that is called so. */
  named(name: string): FakeElement {
    const found = this.#root.all.find(
      (one) => (one.localName === 'button' || one.localName === 'a') && one.name === name,
    );
    return found ?? assert.fail(`There is no ${name} among ${this.buttons.join(', ')}`);
  }

  /** The field with a label. */
  field(label: string): FakeElement {
    const of =
      this.all('label').find((one) => one.name.startsWith(label)) ?? assert.fail(`no field ${label}`);
    const id = of.attributes.get('for');
    const found = [...of.all, ...this.#root.all].find(
      (one) =>
        (id === undefined ? of.contains(one) : one.attributes.get('id') === id) &&
        'input select textarea'.includes(one.localName),
    );
    return found ?? assert.fail(`no field for ${label}`);
  }

  /** Presses a button; one that submits its form does that. */
  async press(name: string): Promise<void> {
    const button = this.named(name);
    assert.equal(button.isDisabled, false, `${name} waits`);
    if (button.attributes.get('type') === 'submit') await this.submit();
    else await this.#act(() => button.send('click'));
  }

  /** Submits the form, as the Enter key does. */
  async submit(): Promise<void> {
    await this.#act(() => this.all('form').at(-1)?.send('submit'));
  }

  async type(label: string, value: string): Promise<void> {
    const field = this.field(label);
    field.value = value;
    await this.#act(() => field.send('input'));
  }

  async choose(label: string, value: string): Promise<void> {
    const field = this.field(label);
    field.value = value;
    await this.#act(() => field.send('change'));
  }

  async tick(label: string, isOn: boolean): Promise<void> {
    const field = this.field(label);
    field.checked = isOn;
    await this.#act(() => field.send('change'));
  }

  /** Does something that changes what is shown, and lets it follow. */
  async act(work: () => unknown): Promise<void> {
    await this.#act(work);
  }

  /** Shows something else in its place, as a parent that is shown anew would. */
  async give(part: ComponentChild): Promise<void> {
    await this.#act(() => render(part, this.#root as unknown as HTMLElement));
  }

  async leave(): Promise<void> {
    await act(() => render(null, this.#root as unknown as HTMLElement));
  }

  async #act(work: () => unknown): Promise<void> {
    await act(async () => {
      await work();
    });
    // What is shown anew asks for more, and is shown again with the answer.
    for (let round = 0; round < 3; round += 1) await act(settled);
  }
}

/** Shows a part of a page in a tab without a browser. */
export async function show(page: FakePage, part: ComponentChild): Promise<Shown> {
  const document = new FakeDocument();
  Object.assign(page.document, {
    activeElement: null,
    createElement: (name: string) => document.createElement(name),
    createElementNS: (_namespace: string, name: string) => document.createElement(name),
    createTextNode: (data: string) => document.createTextNode(data),
  });
  const shown = new Shown(document.createElement('div'));
  await shown.give(part);
  return shown;
}
