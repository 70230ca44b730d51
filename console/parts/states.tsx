import type { ComponentChildren } from 'preact';
import { ApiError, isTokenWanted, OfflineError } from '../api/client.js';
import { text } from '../strings.js';

/** What is shown while nothing is there yet. */
export function Loading() {
  return (
    <p class="state" role="status">
      <span class="spinner" aria-hidden="true" /> {text.state.loading}
    </p>
  );
}

/** What is shown where a list has nothing. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <div class="state empty">{children}</div>;
}

/** What went wrong, in the words of the gateway, and of the broker behind it. */
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
        {title ?? titleOf(error)}
        {status !== undefined && <span class="chip">{status}</span>}
      </h3>
      <p>{detailOf(error)}</p>
      {error instanceof ApiError && error.retryAfter !== undefined && (
        <p>{text.state.retryAfter(error.retryAfter)}</p>
      )}
      {problem !== undefined && <ProblemDetails problem={problem} />}
      {onRetry !== undefined && (
        <button type="button" onClick={onRetry}>
          {isTokenWanted(error) ? text.state.giveToken : text.state.retry}
        </button>
      )}
    </section>
  );
}

/** The members of a problem beyond its words, folded away; the problem of the broker inside it is shown. */
export function ProblemDetails({ problem }: { readonly problem: Readonly<Record<string, unknown>> }) {
  const inner = innerProblem(problem);
  return (
    <>
      {inner !== undefined && (
        <div class="quote">
          <p class="label">{text.state.answeredBy}</p>
          <p class="words">{inner}</p>
        </div>
      )}
      <details>
        <summary>{text.state.details}</summary>
        <pre>{JSON.stringify(problem, null, 2)}</pre>
      </details>
    </>
  );
}

/** The words of the broker's own problem, which the gateway passes on inside its own. */
export function innerProblem(problem: Readonly<Record<string, unknown>>): string | undefined {
  for (const value of Object.values(problem)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    const { title, detail } = value as { title?: unknown; detail?: unknown };
    const words = [title, detail].filter((one) => typeof one === 'string');
    if (words.length > 0) return words.join(': ');
  }
  return undefined;
}

function titleOf(error: unknown): string {
  if (error instanceof OfflineError) return text.state.offline;
  if (!(error instanceof ApiError)) return text.state.failed;
  switch (error.problem.status) {
    case 401:
      return isTokenWanted(error) ? text.state.unauthorized : text.state.signIn;
    case 403:
      return text.state.forbidden;
    case 503:
      return text.state.unavailable;
    default:
      return error.problem.title;
  }
}

function detailOf(error: unknown): string {
  if (error instanceof OfflineError)
    return error.mayHaveArrived
      ? `${text.state.mayHaveArrived} ${text.state.offlineDetail}`
      : text.state.offlineDetail;
  return error instanceof Error ? error.message : String(error);
}
