/** Carries one request to a server. */
export interface Transport {
  /** Sends it and answers when the headers have come; the request's signal ends the body too. */
  fetch(request: Request): Promise<Response>;
  /** Frees connections. */
  [Symbol.dispose]?(): void;
}
