/** The type/subtype of a Content-Type value in lower case, without parameters (RFC 9110 § 8.3); '' when absent. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}
