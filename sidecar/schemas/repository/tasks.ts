import { isObject, type JsonValue, member } from '../../shared/json/json.js';
import { readJson, type Unreadable } from '../../shared/json/strict-json.js';
import type { RefusedFile } from './collector.js';
import { describeDocument } from './describe.js';
import { discover } from './discover.js';
import type { DescribedFile, ImportPlan } from './import-plan.js';
import { RepositoryUnclearError } from './errors.js';

/** A document sent within a JSON body. */
interface SentDocument {
  /** A path or a URL. */
  readonly path: string;
  readonly text: string;
}

export type SentDocuments =
  | { readonly documents: readonly SentDocument[] }
  | { readonly unreadable: Unreadable }
  /** Completes "The body …" */
  | { readonly fault: string; readonly pointer: string };

export interface PlanInput {
  readonly files: readonly DescribedFile[];
  readonly domain: string | undefined;
  /** Files that could not be read, and are refused only if they are used. */
  readonly unread: readonly RefusedFile[];
}

/** Tasks on the files of a repository; they run in a worker, because a repository may have any size. */
export const repositoryTasks = {
  describeDocument,

  /** See {@link discover}. @returns a sentence if that throws RepositoryUnclearError */
  planImport({ files, domain, unread }: PlanInput): ImportPlan | { readonly unclear: string } {
    try {
      return discover(files, { domain, unread });
    } catch (error) {
      if (error instanceof RepositoryUnclearError) return { unclear: error.message };
      throw error;
    }
  },

  /** Splits `{"documents": {"<path or URL>": …}}` into its documents. */
  splitDocuments(text: string): SentDocuments {
    const read = readJson(text);
    if ('unreadable' in read) return read;
    const body = read.value as JsonValue;
    const documents = isObject(body) ? member(body, 'documents') : undefined;
    if (!isObject(body) || !isObject(documents))
      return { fault: 'must be {"documents": {"<path or URL>": <document>}}', pointer: '' };
    const other = Object.keys(body).find((name) => name !== 'documents');
    if (other !== undefined) return { fault: 'is not a known member', pointer: `/${other.slice(0, 200)}` };
    return {
      documents: Object.entries(documents).map(([path, document]) => ({
        path,
        // With line breaks, so that a report can give line numbers.
        text: JSON.stringify(document, undefined, 2),
      })),
    };
  },
};

export type RepositoryTasks = typeof repositoryTasks;
