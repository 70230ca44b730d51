import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorView, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import { editorTheme } from './editor-theme.js';
import type { TextError, Position } from './errors.js';
import { rangeOf } from './json-positions.js';
import { schemaCompletions } from './schema-completions.js';

/** An error or a warning in the text of an editor, and its position. */
export interface Marker extends TextError {
  readonly isWarning?: boolean;
}

export interface CodeViewOptions {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Whether keywords of JSON Schema are suggested. */
  readonly isSchema: boolean;
  /** Minimum and maximum height, in CSS units. */
  readonly heights: readonly [string, string];
}

const lintJson = jsonParseLinter();

/**
 * Some browsers write style attributes into the page when they replace selected text. The Content Security Policy of the page
 * blocks and reports this.
 */
function replaceSelection(event: InputEvent, view: EditorView): boolean {
  const { inputType, data } = event;
  if (inputType !== 'insertText' || data === null || view.state.selection.main.empty) return false;
  view.dispatch(view.state.replaceSelection(data), { userEvent: 'input.type', scrollIntoView: true });
  return true;
}

/** Creates a JSON editor in a shadow root. Tab is left to the page, so that keyboard users can leave the editor. */
export function showCode(root: ShadowRoot, options: CodeViewOptions) {
  const { label, value, onInput, isSchema, heights } = options;
  const parent = document.createElement('div');
  root.append(parent);
  let isSetting = false;
  const view = new EditorView({
    doc: value,
    parent,
    root,
    extensions: [
      lineNumbers(),
      highlightActiveLineGutter(),
      foldGutter(),
      history(),
      indentOnInput(),
      bracketMatching(),
      closeBrackets(),
      json(),
      editorTheme,
      EditorView.lineWrapping,
      EditorView.theme({ '&': { minHeight: heights[0], maxHeight: heights[1] } }),
      isSchema ? autocompletion({ override: [schemaCompletions], icons: false }) : [],
      keymap.of([
        ...closeBracketsKeymap,
        ...defaultKeymap,
        ...historyKeymap,
        ...foldKeymap,
        ...completionKeymap,
      ]),
      // The browser puts editable text into the Tab order anyway, but checkers of accessibility look for the attribute.
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
      EditorView.domEventHandlers({ beforeinput: replaceSelection }),
      EditorView.updateListener.of(({ docChanged, state }) => {
        if (docChanged && !isSetting) onInput(state.doc.toString());
      }),
    ],
  });
  return {
    /** Replaces the text, unless it is the same. */
    setValue(next: string) {
      if (view.state.doc.toString() === next) return;
      isSetting = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
      isSetting = false;
    },
    /** Marks errors, in addition to those of the JSON syntax. */
    setMarks(marks: readonly Marker[]) {
      const own = view.state.doc.length === 0 ? [] : lintJson(view);
      const given = marks.map((mark): Diagnostic => ({
        ...rangeOf(view.state.doc, mark),
        severity: mark.isWarning === true ? 'warning' : 'error',
        message: mark.detail,
      }));
      view.dispatch(setDiagnostics(view.state, [...own, ...given]));
    },
    /** Scrolls to a position, and puts the cursor there. */
    reveal(mark: Position) {
      const { from, to } = rangeOf(view.state.doc, mark);
      view.dispatch({
        selection: { anchor: from, head: to },
        effects: EditorView.scrollIntoView(from, { y: 'center' }),
      });
      view.focus();
    },
    remove() {
      view.destroy();
      parent.remove();
    },
  };
}
