/**
 * Uses a page as people do: by roles and names, as Chromium computes them for screen readers, with
 * the mouse and the keyboard. All that is looked for is waited for.
 */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Browser } from './browser.ts';

/** Of a busy machine a search or an import of many took more than a minute. */
const WAIT_MS_MAX = 180_000;
const LOOK_MS = 50;
/** After such a pause the letters of another choice begin. */
const LETTERS_MS = 1500;
/** Named keys beside those that write a letter. */
const KEYS: Readonly<Record<string, number>> = {
  Enter: 13, Escape: 27, Tab: 9, End: 35, Home: 36, ArrowUp: 38, ArrowDown: 40, ' ': 32,
};

/** Selects the text of the field that has the focus; false: nothing with a text has it. */
const SELECT_FOCUSED = `const field = document.activeElement;
  field?.select?.();
  return field?.select !== undefined;`;
/** Ends when the page is drawn again. */
export const NEXT_FRAME = 'return new Promise((drawn) => requestAnimationFrame(drawn));';

type Named = {
  readonly role: string; readonly name: string; readonly node: number;
  readonly isDisabled: boolean;
};

export class Person {
  readonly #browser: Browser;

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  async find(role: string, name: string | RegExp): Promise<Named> {
    let seen: readonly Named[] = [];
    const found = await waitFor(async () => {
      seen = await this.everything();
      return seen.find((one) => one.role === role && isSame(one.name, name));
    });
    assert.ok(found !== undefined, `no ${role} ${name} among ${
      seen.filter((one) => one.role === role).map((one) => one.name).join(', ')}`);
    return found;
  }

  /** Whatever has a role, in the order of the page. */
  async everything(): Promise<readonly Named[]> {
    const tree = await this.#browser.command('Accessibility.getFullAXTree', {});
    return membersOf(tree, 'nodes').flatMap((node) => {
      const role = valueOf(node, 'role');
      const id = memberOf(node, 'backendDOMNodeId');
      if (memberOf(node, 'ignored') === true || role === '' || typeof id !== 'number') return [];
      const isDisabled = membersOf(node, 'properties').some((property) =>
        memberOf(property, 'name') === 'disabled'
        && memberOf(memberOf(property, 'value'), 'value') === true);
      return [{ role, name: valueOf(node, 'name'), node: id, isDisabled }];
    });
  }

  click(role: string, name: string | RegExp): Promise<void> {
    return this.clickSlowly(role, name, async () => {});
  }

  /** What happens `meanwhile`, happens between the press and the release of the button. */
  async clickSlowly(
    role: string, name: string | RegExp, meanwhile: () => Promise<void>,
  ): Promise<void> {
    // What is disabled, drawn anew or moves between two looks is looked for once more.
    const quad = await waitFor(() => this.#quadOf(role, name).catch(() => undefined));
    assert.ok(quad !== undefined, `${role} ${name} can be seen`);
    const at = { x: (Number(quad[0]) + Number(quad[4])) / 2,
      y: (Number(quad[1]) + Number(quad[5])) / 2 };
    const send = (type: string): Promise<unknown> => this.#browser.command(
      'Input.dispatchMouseEvent', { type, ...at, button: 'left', clickCount: 1 });
    await send('mousePressed');
    await meanwhile();
    await send('mouseReleased');
  }

  async #quadOf(role: string, name: string | RegExp): Promise<readonly unknown[] | undefined> {
    const { node, isDisabled } = await this.find(role, name);
    if (isDisabled) return undefined;
    const box = { backendNodeId: node };
    await this.#browser.command('DOM.scrollIntoViewIfNeeded', box);
    const look = async (): Promise<unknown> =>
      membersOf(await this.#browser.command('DOM.getContentQuads', box), 'quads')[0];
    const quad = await look();
    await this.#browser.evaluate(NEXT_FRAME);
    return Array.isArray(quad) && isDeepStrictEqual(quad, await look()) ? quad : undefined;
  }

  /** Writes into a field in place of what is there. */
  async fill(role: string, name: string | RegExp, text: string): Promise<void> {
    // A page drawn anew between the two takes the focus away.
    const isSelected = await waitFor(async () => {
      await this.focus(role, name);
      return await this.#browser.evaluate(SELECT_FOCUSED) === true || undefined;
    });
    assert.ok(isSelected, `${role} ${name} takes text`);
    if (text === '') await this.#browser.evaluate('document.execCommand("delete");');
    else await this.#browser.command('Input.insertText', { text });
  }

  /** Chooses in a list by the letters of what it says: a list takes letters as one word for 1 s. */
  async choose(name: string | RegExp, option: string): Promise<void> {
    const isChosen = await waitFor(async () => {
      await this.focus('combobox', name);
      // None waits for the answer to the letter before, which a busy machine may take a second for.
      await Promise.all([...option].map((letter) => this.press(letter)));
      if (await this.#hasChosen(name, option)) return true;
      await new Promise((resolve) => void setTimeout(resolve, LETTERS_MS));
      return undefined;
    });
    assert.ok(isChosen, `${option} in ${name}`);
  }

  /** What is chosen in a list may make it anew, or take it away. */
  async #hasChosen(name: string | RegExp, option: string): Promise<boolean> {
    const list = (await this.everything())
      .find((one) => one.role === 'combobox' && isSame(one.name, name));
    if (list === undefined) return true;
    if (!await this.#takesFocus(list.node)) return false;
    const chosen = await this.#browser.evaluate(
      'return document.activeElement.selectedOptions?.[0].text ?? null;');
    return String(chosen).startsWith(option);
  }

  async focus(role: string, name: string | RegExp): Promise<void> {
    const hasFocus = await waitFor(async () => {
      const { node } = await this.find(role, name);
      return await this.#takesFocus(node) || undefined;
    });
    assert.ok(hasFocus, `${role} ${name} takes the focus`);
  }

  /** What is disabled, or drawn anew since it was found, takes none. */
  async #takesFocus(node: number): Promise<boolean> {
    return this.#browser.command('DOM.focus', { backendNodeId: node })
      .then(() => true, () => false);
  }

  async press(key: string): Promise<void> {
    const code = KEYS[key] ?? key.toUpperCase().charCodeAt(0);
    const text = key === 'Enter' ? '\r' : key.length === 1 ? key : '';
    for (const type of ['keyDown', 'keyUp']) {
      await this.#browser.command('Input.dispatchKeyEvent', {
        type, key, windowsVirtualKeyCode: code, ...text === '' || type === 'keyUp' ? {} : { text },
      });
    }
  }

  /** Waits until the page says it, or says it no more. */
  async sees(what: string | RegExp, isThere = true): Promise<void> {
    let text = '';
    const is = await waitFor(async () => {
      text = await this.text();
      const isSeen = typeof what === 'string' ? text.includes(what) : what.test(text);
      return isSeen === isThere || undefined;
    });
    assert.ok(is, `${isThere ? '' : 'not '}${what} in: ${text}`);
  }

  /** Waits until the body of a function gives that in the page, or text that matches. */
  async gives(script: string, expected: unknown): Promise<void> {
    let given: unknown;
    const is = await waitFor(async () => {
      given = await this.#browser.evaluate(script);
      const isSo = expected instanceof RegExp ? expected.test(String(given))
        : isDeepStrictEqual(given, expected);
      return isSo || undefined;
    });
    if (is !== true) assert.deepEqual(given, expected, script);
  }

  async text(): Promise<string> {
    return String(await this.#browser.evaluate('return document.body.innerText;'));
  }
}

/** What it gives as soon as that is something; undefined in the end. */
async function waitFor<Value>(look: () => Promise<Value | undefined>): Promise<Value | undefined> {
  const endMs = performance.now() + WAIT_MS_MAX;
  for (;;) {
    const found = await look();
    if (found !== undefined || performance.now() > endMs) return found;
    await new Promise((resolve) => void setTimeout(resolve, LOOK_MS));
  }
}

function isSame(given: string, name: string | RegExp): boolean {
  return typeof name === 'string' ? given.trim() === name : name.test(given);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined;
}

function membersOf(value: unknown, name: string): readonly unknown[] {
  const members = memberOf(value, name);
  return Array.isArray(members) ? members : [];
}

function valueOf(node: unknown, name: string): string {
  const text = memberOf(memberOf(node, name), 'value');
  return typeof text === 'string' ? text : '';
}
