import type { Suggestion } from './suggestions.js';
import { shownPointer } from '../shared/format.js';
import { text } from '../strings.js';
import type { Finding } from './workbench-api.js';

/** Findings that are listed; the gateway sends a hundred of an entity. */
const MOST = 200;

/** What was found: where, what, and what would mend it. */
export function Findings({
  findings,
  onShow,
  onFix,
}: {
  readonly findings: readonly Finding[];
  readonly onShow: (finding: Finding) => void;
  readonly onFix: (finding: Finding, suggestion: Suggestion) => void;
}) {
  const t = text.workbench;
  return (
    <ul class="bench-findings" aria-label={t.findings}>
      {findings.slice(0, MOST).map((finding) => (
        <li key={`${finding.pointer} ${finding.detail}`}>
          <span class={'keyword' in finding ? 'chip bad' : 'chip warn'}>
            {'keyword' in finding ? t.error : t.warning}
          </span>
          <div>
            <button type="button" class="link" onClick={() => onShow(finding)}>
              <code>
                {finding.line}:{finding.column}
              </code>{' '}
              <code class="where">{shownPointer(finding.pointer)}</code>
            </button>
            <p>{finding.detail}</p>
            {finding.suggestion !== undefined && (
              <Fix suggestion={finding.suggestion} onFix={(one) => onFix(finding, one)} />
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function Fix({
  suggestion,
  onFix,
}: {
  readonly suggestion: Suggestion;
  readonly onFix: (suggestion: Suggestion) => void;
}) {
  const t = text.workbench;
  const label =
    'name' in suggestion ? t.useName(suggestion.name) : t.useValue(JSON.stringify(suggestion.value));
  return (
    <button type="button" class="small" onClick={() => onFix(suggestion)}>
      {label}
    </button>
  );
}
