/** An item of a BatchOperationResult (ETSI GS CIM 009 V1.9.1, clause 5.2.16). */
export interface BatchError {
  readonly entityId: string;
  readonly error: unknown;
}

export interface BatchResult {
  readonly success: readonly string[];
  readonly errors: readonly unknown[];
}

/**
 * What became of a batch of which the broker got a part: its own result, and what it did not get.
 *
 * @param sent ids of the entities that it got
 * @returns undefined where the broker did not do it at all: then its answer says why
 */
export function mergedResult(
  status: number,
  body: string,
  sent: readonly string[],
  refused: readonly BatchError[],
): BatchResult | undefined {
  if (status === 207) {
    const { success, errors } = objectIn(body);
    return {
      success: listOf(success).filter((id) => typeof id === 'string'),
      errors: [...listOf(errors), ...refused],
    };
  }
  // 201 lists those that are new, and 204 none.
  return status >= 200 && status < 300 ? { success: [...new Set(sent)], errors: refused } : undefined;
}

function objectIn(text: string): { readonly success?: unknown; readonly errors?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
