/** The status codes by name (RFC 9110 and the registry that goes with it). */
export const STATUS_CODE = {
  Continue: 100,
  SwitchingProtocols: 101,
  Processing: 102,
  EarlyHints: 103,
  OK: 200,
  Created: 201,
  Accepted: 202,
  NonAuthoritativeInfo: 203,
  NoContent: 204,
  ResetContent: 205,
  PartialContent: 206,
  MultiStatus: 207,
  AlreadyReported: 208,
  IMUsed: 226,
  MultipleChoices: 300,
  MovedPermanently: 301,
  Found: 302,
  SeeOther: 303,
  NotModified: 304,
  UseProxy: 305,
  TemporaryRedirect: 307,
  PermanentRedirect: 308,
  BadRequest: 400,
  Unauthorized: 401,
  PaymentRequired: 402,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  ProxyAuthRequired: 407,
  RequestTimeout: 408,
  Conflict: 409,
  Gone: 410,
  LengthRequired: 411,
  PreconditionFailed: 412,
  ContentTooLarge: 413,
  URITooLong: 414,
  UnsupportedMediaType: 415,
  RangeNotSatisfiable: 416,
  ExpectationFailed: 417,
  Teapot: 418,
  MisdirectedRequest: 421,
  UnprocessableEntity: 422,
  Locked: 423,
  FailedDependency: 424,
  TooEarly: 425,
  UpgradeRequired: 426,
  PreconditionRequired: 428,
  TooManyRequests: 429,
  RequestHeaderFieldsTooLarge: 431,
  UnavailableForLegalReasons: 451,
  InternalServerError: 500,
  NotImplemented: 501,
  BadGateway: 502,
  ServiceUnavailable: 503,
  GatewayTimeout: 504,
  HTTPVersionNotSupported: 505,
  VariantAlsoNegotiates: 506,
  InsufficientStorage: 507,
  LoopDetected: 508,
  NotExtended: 510,
  NetworkAuthenticationRequired: 511,
} as const;

/** A status code that has a name. */
export type StatusCode = typeof STATUS_CODE[keyof typeof STATUS_CODE];

/** The words that go with each status code. */
export const STATUS_TEXT: Readonly<Record<StatusCode, string>> = Object.fromEntries(
  Object.entries(STATUS_CODE).map(([name, code]) => [code, name === "Teapot" ? "I'm a teapot" : words(name)]),
) as Record<StatusCode, string>;

/** The words that go with some status code. */
export type StatusText = typeof STATUS_TEXT[StatusCode];

/** A status code from 100 to 199. */
export type InformationalStatus = Extract<`${StatusCode}`, `1${string}`> extends `${infer Code extends StatusCode}`
  ? Code
  : never;
/** A status code from 200 to 299. */
export type SuccessfulStatus = Extract<`${StatusCode}`, `2${string}`> extends `${infer Code extends StatusCode}` ? Code
  : never;
/** A status code from 300 to 399. */
export type RedirectStatus = Extract<`${StatusCode}`, `3${string}`> extends `${infer Code extends StatusCode}` ? Code
  : never;
/** A status code from 400 to 499. */
export type ClientErrorStatus = Extract<`${StatusCode}`, `4${string}`> extends `${infer Code extends StatusCode}` ? Code
  : never;
/** A status code from 500 to 599. */
export type ServerErrorStatus = Extract<`${StatusCode}`, `5${string}`> extends `${infer Code extends StatusCode}` ? Code
  : never;
/** A status code from 400 to 599. */
export type ErrorStatus = ClientErrorStatus | ServerErrorStatus;

/** Whether a number is a status code that has a name. */
export function isStatus(status: number): status is StatusCode {
  return status in STATUS_TEXT;
}

/** Whether a number is a named status code from 100 to 199. */
export function isInformationalStatus(status: number): status is InformationalStatus {
  return isStatus(status) && status < 200;
}

/** Whether a number is a named status code from 200 to 299. */
export function isSuccessfulStatus(status: number): status is SuccessfulStatus {
  return isStatus(status) && status >= 200 && status < 300;
}

/** Whether a number is a named status code from 300 to 399. */
export function isRedirectStatus(status: number): status is RedirectStatus {
  return isStatus(status) && status >= 300 && status < 400;
}

/** Whether a number is a named status code from 400 to 499. */
export function isClientErrorStatus(status: number): status is ClientErrorStatus {
  return isStatus(status) && status >= 400 && status < 500;
}

/** Whether a number is a named status code from 500 to 599. */
export function isServerErrorStatus(status: number): status is ServerErrorStatus {
  return isStatus(status) && status >= 500;
}

/** Whether a number is a named status code from 400 to 599. */
export function isErrorStatus(status: number): status is ErrorStatus {
  return isStatus(status) && status >= 400;
}

/** `"NotFound"` as `"Not Found"`, `"URITooLong"` as `"URI Too Long"`. */
function words(name: string): string {
  return name.replace(/([a-z])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$& ");
}
