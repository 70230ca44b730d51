/** What a string of the format is, with one for example; a format that people do not know is named only. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ['date-time', 'a date-time such as 2026-01-31T12:00:00Z'],
  ['date', 'a date such as 2026-01-31'],
  ['time', 'a time such as 12:00:00Z'],
  ['iso-date-time', 'a date-time such as 2026-01-31T12:00:00Z'],
  ['iso-time', 'a time such as 12:00:00'],
  ['duration', 'a duration such as PT1H30M'],
  ['uri', 'a URI such as urn:ngsi-ld:Vehicle:001'],
  ['url', 'a URL such as https://city.example/map'],
  ['uri-reference', 'a URI, or one relative to another'],
  ['uri-template', 'a URI template (RFC 6570)'],
  ['email', 'an email address such as name@city.example'],
  ['hostname', 'a host name such as city.example'],
  ['ipv4', 'an IPv4 address such as 192.0.2.1'],
  ['ipv6', 'an IPv6 address such as 2001:db8::1'],
  ['uuid', 'a UUID such as 123e4567-e89b-12d3-a456-426614174000'],
  ['regex', 'a regular expression'],
  ['json-pointer', 'a JSON pointer such as /a/0'],
  ['byte', 'base64'],
  ['int32', 'an integer of 32 bits'],
  ['int64', 'an integer of 64 bits'],
]);

/** What a format asks for; completes "must be …". */
export function formatWords(format: string): string {
  return FORMATS.get(format) ?? `of the format ${format.slice(0, 80)}`;
}

/** What is likely wrong with the text; undefined when nothing is plain to see. */
export function formatHint(format: string, text: string): string | undefined {
  if (format === 'date-time') {
    if (/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/.test(text)) {
      return /:\d\d:/.test(text)
        ? 'the time zone is lacking, such as Z'
        : 'the seconds and the time zone are lacking';
    }
    if (/^\d{4}-\d\d-\d\d$/.test(text)) return 'the time is lacking';
  }
  if (format === 'time' && /^\d\d:\d\d:\d\d(?:\.\d+)?$/.test(text))
    return 'the time zone is lacking, such as Z';
  return (format === 'uri' || format === 'url') && /\s/.test(text) ? 'it holds a space' : undefined;
}
