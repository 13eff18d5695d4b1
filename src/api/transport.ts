/** Sends requests to an API server. */
export interface Transport {
  /**
   * Sends a request, and resolves when the headers of the response have arrived. Aborting the request's signal also
   * cancels the body.
   */
  fetch(request: Request): Promise<Response>;
  /** Closes connections. */
  [Symbol.dispose]?(): void;
}
