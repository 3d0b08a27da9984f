/** Validates a name: the server's messages, or none for a valid name. */
export type NameRule = (text: string) => readonly string[];

/** A pattern that must match the whole text, with the source that the server shows in messages. */
interface Pattern {
  readonly source: string;
  readonly whole: RegExp;
}

function pattern(source: string): Pattern {
  return { source, whole: new RegExp(`^(?:${source})$`) };
}

const label = pattern('[a-z0-9]([-a-z0-9]*[a-z0-9])?');
const label1035 = pattern('[a-z]([-a-z0-9]*[a-z0-9])?');
const subdomain = pattern(`${label.source}(\\.${label.source})*`);
const wildcard = pattern(`\\*\\.${subdomain.source}`);
const qualified = pattern('([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]');
const labelValue = pattern(`(${qualified.source})?`);
const configKeyPattern = pattern('[-._a-zA-Z0-9]+');

const subdomainText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const labelText =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const label1035Text =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const qualifiedText =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const labelValueText =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

export const dnsSubdomain: NameRule = (text) => [
  ...tooLong(text, 253, 'characters'),
  ...mismatch(text, subdomain, subdomainText, ['example.com']),
];

export const dnsLabel: NameRule = (text) => {
  const hasDots = subdomain.whole.test(text) && !label.whole.test(text);
  const shape = hasDots
    ? ['must not contain dots']
    : mismatch(text, label, labelText, ['my-name', '123-abc']);
  return [...tooLong(text, 63, 'characters'), ...shape];
};

/** Names of kinds and resources, which start with a letter. */
export const dns1035Label: NameRule = (text) => [
  ...tooLong(text, 63, 'characters'),
  ...mismatch(text, label1035, label1035Text, ['my-name', 'abc-123']),
];

/** A name that only has to be a valid path segment (RBAC). */
export const pathSegment: NameRule = (text) => {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%']
    .filter((mark) => text.includes(mark))
    .map((mark) => `may not contain '${mark}'`);
};

/** Keys of labels and annotations, finalizers: `example.com/name`. */
export const qualifiedName: NameRule = (text) => {
  const parts = text.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) {
    const example = regexText(qualified, qualifiedText, ['MyName', 'my.name', '123-abc']);
    return [
      `a valid label key ${example} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  if (second === undefined) return namePart(first);
  if (first === '') return ['prefix part must be non-empty', ...namePart(second)];
  return [...dnsSubdomain(first).map((message) => `prefix part ${message}`), ...namePart(second)];
};

export const labelValueRule: NameRule = (text) => [
  ...tooLong(text, 63),
  ...mismatch(text, labelValue, labelValueText, ['MyValue', 'my_value', '12345']),
];

/** Names of container ports. */
export const portName: NameRule = (text) => [
  ...tooLong(text, 15, 'characters'),
  ...(/^[-a-z0-9]+$/.test(text)
    ? []
    : ['must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)']),
  ...(/[a-z]/.test(text) ? [] : ['must contain at least one letter (a-z)']),
  ...(text.includes('--') ? ['must not contain consecutive hyphens'] : []),
  ...(/^-|-$/.test(text) ? ['must not begin or end with a hyphen'] : []),
];

export function portNumber(port: number): readonly string[] {
  return port >= 1 && port <= 65_535 ? [] : ['must be between 1 and 65535, inclusive'];
}

/** Names of environment variables. */
export const variableName: NameRule = (text) =>
  /^[ -<>-~]*$/.test(text)
    ? []
    : [
        "a valid environment variable name must consist only of printable ASCII characters other than '='",
      ];

/** Host names that may start with a wildcard: `*.example.com`. */
export const wildcardSubdomain: NameRule = (text) => [
  ...tooLong(text, 253, 'characters'),
  ...mismatch(
    text,
    wildcard,
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    ['*.example.com'],
  ),
];

/** Keys of the data of ConfigMaps and Secrets. */
export const configKey: NameRule = (text) => {
  const errors = [
    ...tooLong(text, 253, 'characters'),
    ...mismatch(
      text,
      configKeyPattern,
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
      ['key.name', 'KEY_NAME', 'key-name'],
    ),
  ];
  if (text === '.') errors.push("must not be '.'");
  else if (text === '..') errors.push("must not be '..'");
  else if (text.startsWith('..')) errors.push("must not start with '..'");
  return errors;
};

function namePart(text: string): readonly string[] {
  const errors = text === '' ? ['must be non-empty'] : tooLong(text, 63);
  const shape = mismatch(text, qualified, qualifiedText, ['MyName', 'my.name', '123-abc']);
  return [...errors, ...shape].map((message) => `name part ${message}`);
}

/** The server counts bytes, although its messages for names say `characters`. */
function tooLong(text: string, bytes: number, unit = 'bytes'): readonly string[] {
  // A UTF-16 unit has three UTF-8 bytes at most.
  const isLong = text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;
  return isLong ? [`must be no more than ${bytes} ${unit}`] : [];
}

function mismatch(
  text: string,
  pattern: Pattern,
  message: string,
  examples: readonly string[],
): readonly string[] {
  if (pattern.whole.test(text)) return [];
  return [regexText(pattern, message, examples)];
}

function regexText({ source }: Pattern, message: string, examples: readonly string[]): string {
  const list = examples
    .map((example) => `'${example}'`)
    .join(' or ')
    .replaceAll("' or '", "',  or '");
  return `${message} (e.g. ${list}, regex used for validation is '${source}')`;
}

/** `acme.io/foo`. */
export const domainPath: NameRule = (text) => {
  const [host = '', ...rest] = text.split('/');
  if (host === '' || rest.join('/') === '')
    return ['must be a domain-prefixed path (such as "acme.io/foo")'];
  return dnsSubdomain(host);
};

/** Returns whether a text is a range of addresses: `10.0.0.0/8`. */
export function isCidr(text: string): boolean {
  const [address = '', size = '', ...rest] = text.split('/');
  if (rest.length > 0 || !isIpAddress(address) || !/^\d{1,3}$/.test(size)) return false;
  return Number(size) <= (address.includes(':') ? 128 : 32);
}

/** Returns whether a text is an IPv4 or IPv6 address. */
export function isIpAddress(text: string): boolean {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text))
    return text.split('.').every((part) => Number(part) <= 255);
  return text.includes(':') && /^[\da-fA-F:.]+$/.test(text) && URL.canParse(`http://[${text}]/`);
}
