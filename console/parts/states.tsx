import type { ComponentChildren } from 'preact';
import { Button } from './button.js';
import { ApiError, needsToken, UnreachableError } from '../api/client.js';
import type { Loaded } from '../shared/hooks.js';
import { text } from '../strings.js';

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
  isStored = false,
}: {
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  readonly title?: string | undefined;
  /** Whether the error is a section of a stored record. Screen readers do not announce it when the page is opened. */
  readonly isStored?: boolean;
}) {
  const problem = error instanceof ApiError ? error.problem : undefined;
  const status = problem?.status;
  const Heading = isStored ? 'h2' : 'h3';
  return (
    <section class="notice bad" role={isStored ? undefined : 'alert'}>
      <Heading>
        {title ?? errorTitle(error)}
        {status !== undefined && <span class="chip">{status}</span>}
      </Heading>
      <p>{errorDetail(error)}</p>
      {error instanceof ApiError && error.retryAfter !== undefined && (
        <p>{text.state.retryAfter(error.retryAfter)}</p>
      )}
      {problem !== undefined && <ProblemDetails problem={problem} />}
      {onRetry !== undefined && (
        <Button onClick={onRetry} label={needsToken(error) ? text.state.giveToken : text.state.retry} />
      )}
    </section>
  );
}

/** The members of a problem besides its message, collapsed. The broker's problem in it is always shown. */
function ProblemDetails({ problem }: { readonly problem: Readonly<Record<string, unknown>> }) {
  const inner = brokerProblem(problem);
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
        <pre>{JSON.stringify(problem, undefined, 2)}</pre>
      </details>
    </>
  );
}

/** Describes an error in a few words. */
export function errorTitle(error: unknown): string {
  if (error instanceof UnreachableError) return text.state.offline;
  if (!(error instanceof ApiError)) return text.state.failed;
  switch (error.problem.status) {
    case 401:
      return needsToken(error) ? text.state.unauthorized : text.state.signIn;
    case 403:
      return text.state.forbidden;
    case 412:
      return text.state.conflict;
    case 503:
      return text.state.unavailable;
    default:
      return error.problem.title;
  }
}

/** Returns the gateway's message for an error, and whether the request may have arrived. */
export function errorDetail(error: unknown): string {
  if (error instanceof UnreachableError)
    return error.mayHaveArrived
      ? `${text.state.mayHaveArrived} ${text.state.offlineDetail}`
      : text.state.offlineDetail;
  return error instanceof Error ? error.message : String(error);
}

/** Returns the message of the broker's own problem, which the gateway includes in its problem. */
export function brokerProblem(problem: Readonly<Record<string, unknown>>): string | undefined {
  for (const value of Object.values(problem)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    const { title, detail } = value as { title?: unknown; detail?: unknown };
    const words = [title, detail].filter((one) => typeof one === 'string');
    if (words.length > 0) return words.join(': ');
  }
  return undefined;
}

/** Returns a title that says who refused a preview. If the refusal includes the broker's own problem, it was the broker. */
export function previewTitle(error: unknown): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const { problem } = error;
  if (brokerProblem(problem) !== undefined) return text.preview.brokerRefused;
  return problem.status === 400 || problem.status === 409 ? text.preview.refused : undefined;
}

/** Returns the gateway's messages about refused members of the form, by their names. */
export function fieldErrors(error: unknown): Readonly<Record<string, string>> {
  const errors: unknown = error instanceof ApiError ? error.problem['errors'] : undefined;
  if (!Array.isArray(errors)) return {};
  const faults = errors as readonly { readonly pointer?: unknown; readonly detail?: unknown }[];
  return Object.fromEntries(
    faults.flatMap(({ pointer, detail }) => {
      const member = typeof pointer === 'string' ? pointer.split('/')[1] : undefined;
      return member === undefined || typeof detail !== 'string' ? [] : [[member, detail] as const];
    }),
  );
}
