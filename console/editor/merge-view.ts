import { json } from '@codemirror/lang-json';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { editorTheme } from './editor-theme.js';

/** One side of a comparison. */
export interface Side {
  readonly label: string;
  readonly value: string;
}

/** The frame surrounds both sides. */
const unframed = EditorView.theme({ '&': { border: 'none', borderRadius: '0' } });

const UNCHANGED = { margin: 3, minSize: 6 } as const;

/** Extensions for a read-only text. */
function readOnly(label: string): Extension {
  return [
    lineNumbers(),
    json(),
    unframed,
    editorTheme,
    EditorView.lineWrapping,
    EditorState.readOnly.of(true),
    // Focusable, so that it can be scrolled by keyboard.
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
  ];
}

/** Shows two texts side by side, the older one on the left. @returns a function that removes them */
export function showMerge(root: ShadowRoot, older: Side, newer: Side): () => void {
  const parent = frameIn(root);
  const view = new MergeView({
    a: { doc: older.value, extensions: readOnly(older.label) },
    b: { doc: newer.value, extensions: readOnly(newer.label) },
    parent,
    root,
    collapseUnchanged: UNCHANGED,
    gutter: true,
    highlightChanges: true,
  });
  return () => {
    view.destroy();
    parent.remove();
  };
}

/** Shows the comparison in one column, for narrow screens, with old text above new text. */
export function showUnified(root: ShadowRoot, older: Side, newer: Side, label: string): () => void {
  const parent = frameIn(root);
  const view = new EditorView({
    parent,
    root,
    doc: newer.value,
    extensions: [
      readOnly(label),
      unifiedMergeView({ original: older.value, mergeControls: false, collapseUnchanged: UNCHANGED }),
    ],
  });
  return () => {
    view.destroy();
    parent.remove();
  };
}

/** Creates a frame in which both sides scroll together. */
function frameIn(root: ShadowRoot): HTMLElement {
  const frame = document.createElement('div');
  Object.assign(frame.style, {
    maxHeight: '600px',
    overflow: 'auto',
    border: '1px solid var(--edge)',
    borderRadius: '5px',
  });
  root.append(frame);
  return frame;
}
