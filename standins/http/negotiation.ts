interface Accepted {
  readonly type: string;
  readonly subtype: string;
  readonly quality: number;
}

/**
 * The one of `types` that the request prefers; undefined where it accepts none of them. Without an `Accept` header it
 * is the first.
 */
export function accepts<T extends string = string>(
  request: Pick<Request, "headers">,
  ...types: T[]
): T | undefined {
  const header = request.headers.get("accept");
  if (!header) return types[0];
  const accepted = header.split(",").map(parse).filter((it) => it !== undefined);
  const ranked = types.flatMap((type, index) => {
    const best = accepted
      .filter((it) => specificity(it, type) >= 0)
      .sort((a, b) => specificity(b, type) - specificity(a, type) || b.quality - a.quality)[0];
    return best === undefined || best.quality <= 0 ? [] : [{ type, index, best, specificity: specificity(best, type) }];
  });
  ranked.sort((a, b) => b.best.quality - a.best.quality || b.specificity - a.specificity || a.index - b.index);
  return ranked[0]?.type;
}

function parse(text: string): Accepted | undefined {
  const match = /^\s*([^\s/;]+)\/([^;\s]+)\s*(?:;(.*))?$/.exec(text);
  if (match === null) return undefined;
  const quality = /(?:^|;)\s*q\s*=\s*"?([\d.]+)/i.exec(match[3] ?? "");
  return {
    type: match[1].toLowerCase(),
    subtype: match[2].toLowerCase(),
    quality: quality === null ? 1 : parseFloat(quality[1]),
  };
}

/** How closely an accepted type names `type`; -1 if it does not. */
function specificity(accepted: Accepted, type: string): number {
  const [main, sub] = type.toLowerCase().split("/");
  if (accepted.type !== main && accepted.type !== "*") return -1;
  if (accepted.subtype !== sub && accepted.subtype !== "*") return -1;
  return (accepted.type === main ? 4 : 0) + (accepted.subtype === sub ? 2 : 0);
}
