import type { ComponentChildren } from 'preact';
import { Button } from './button.js';
import { ApiError, isTokenWanted } from '../api/client.js';
import { writeJson } from '../../sidecar/shared/json/lossless-json.js';
import type { Loaded } from '../shared/use-load.js';
import { text } from '../strings.js';
import { failureDetail, failureTitle, innerProblem } from './failure-words.js';

/** Shown while nothing has been loaded yet. */
export function Loading() {
  return (
    <p class="state" role="status">
      <span class="spinner" aria-hidden="true" /> {text.state.loading}
    </p>
  );
}

/** Shows that something is still loading, or why loading failed. Shows nothing once it is loaded, unless reloading failed. */
export function Pending({
  value,
  error,
  reload,
  title,
}: Partial<Loaded<unknown>> & { readonly title?: string | undefined }) {
  if (error !== undefined) return <Failure error={error} onRetry={reload} title={title} />;
  return value === undefined ? <Loading /> : null;
}

/** Shown for an empty list. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="state empty">{children}</div>;
}

/** Shows an error with the message of the gateway, and that of the broker behind it. */
export function Failure({
  error,
  onRetry,
  title,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  readonly title?: string | undefined;
}) {
  const problem = error instanceof ApiError ? error.problem : undefined;
  const status = problem?.status;
  return (
    <section class="notice bad" role="alert">
      <h3>
        {title ?? failureTitle(error)}
        {status !== undefined && <span class="chip">{status}</span>}
      </h3>
      <p>{failureDetail(error)}</p>
      {error instanceof ApiError && error.retryAfter !== undefined && (
        <p>{text.state.retryAfter(error.retryAfter)}</p>
      )}
      {problem !== undefined && <ProblemDetails problem={problem} />}
      {onRetry !== undefined && (
        <Button onClick={onRetry} label={isTokenWanted(error) ? text.state.giveToken : text.state.retry} />
      )}
    </section>
  );
}

/** The members of a problem besides its message, collapsed. The broker's problem in it is always shown. */
export function ProblemDetails({ problem }: { readonly problem: Readonly<Record<string, unknown>> }) {
  const inner = innerProblem(problem);
  return (
    <>
      {inner !== undefined && (
        <div class="quote">
          <p class="label">{text.state.answeredBy}</p>
          <p>{inner}</p>
        </div>
      )}
      <details>
        <summary>{text.state.details}</summary>
        <pre>{writeJson(problem, 2)}</pre>
      </details>
    </>
  );
}
