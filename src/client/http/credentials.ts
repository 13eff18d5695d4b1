/** Adds credentials to requests. */
export interface Credentials {
  /**
   * Sets headers of one request, and is called again after a 401. The request rejects with what it throws.
   *
   * @param headers The request's headers, to be changed in place.
   * @param options `refresh` is true after a 401: cached credentials are stale.
   */
  apply(headers: Headers, options: { readonly refresh: boolean; readonly signal?: AbortSignal }): void | Promise<void>;
}
