import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** Uses the colours of the page: its custom properties also apply in the shadow roots of editors, in both themes. */
const look = EditorView.theme({
  '&': {
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--edge)',
    borderRadius: '5px',
    color: 'var(--text)',
    fontSize: '13px',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '1px' },
  '.cm-scroller': { overflow: 'auto', fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--sunken)', border: 'none', color: 'var(--quiet)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLineGutter': { color: 'var(--text)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--edge)',
  },
  '.cm-tooltip': {
    maxWidth: 'min(420px, 90vw)',
    backgroundColor: 'var(--surface)',
    border: '1px solid var(--edge)',
    borderRadius: '5px',
    color: 'var(--text)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '2px 8px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { color: 'var(--quiet)', fontStyle: 'normal' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-diagnostic': { overflowWrap: 'anywhere' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  // The package draws underlines with images in data: URLs, which the Content Security Policy of the page blocks.
  '.cm-lintRange-warning': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--warn)',
    textDecorationSkipInk: 'none',
  },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textDecorationSkipInk: 'none',
  },
  '.cm-collapsedLines': {
    background: 'var(--sunken)',
    color: 'var(--quiet)',
    padding: '4px 8px',
  },
  // Few fonts have the default character.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯"', margin: '0 6px' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': {
    backgroundColor: 'color-mix(in srgb, var(--bad-soft) 60%, transparent)',
  },
  '&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine': {
    backgroundColor: 'color-mix(in srgb, var(--good-soft) 60%, transparent)',
  },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': {
    background: 'color-mix(in srgb, var(--bad) 25%, transparent)',
  },
  '&.cm-merge-b .cm-changedText': { background: 'color-mix(in srgb, var(--good) 25%, transparent)' },
  // The syntax colours would have too little contrast on these backgrounds.
  '&.cm-merge-a .cm-changedText *, &.cm-merge-b .cm-changedText *, .cm-deletedText, .cm-deletedText *': {
    color: 'var(--text)',
  },
  '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { background: 'var(--bad)' },
  '&.cm-merge-b .cm-changedLineGutter': { background: 'var(--good)' },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent-strong)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: [tags.separator, tags.bracket], color: 'var(--quiet)' },
]);

/** The appearance of all editors. */
export const editorTheme: Extension = [look, syntaxHighlighting(colours)];
