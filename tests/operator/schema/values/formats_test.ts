// The formats of values: what kube-apiserver 1.37 takes and refuses, as it said itself.
import { assertEquals } from "@std/assert";
import { checkedFormat, FORMATS } from "../../../../src/operator/schema/values/formats.ts";

/** Texts that fit, and texts that do not. */
const TEXTS: Readonly<Record<string, readonly [fitting: readonly string[], others: readonly string[]]>> = {
  bsonobjectid: [["507f1f77bcf86cd799439011"], ["507f1f77bcf86cd79943901", "507f1f77bcf86cd79943901g"]],
  uri: [
    ["http://example.com/a?b#c", "/a", "//x<", "mailto:a@b.c", "https://[::1]:80/%20", "http://u:p@h", 'http://a"<b>'],
    ["", "a", "http://[:::1]", "http://a b", "/%2", "http://x:y", "http://a<b@c"],
  ],
  email: [
    ["a@b", '"a b"@c.de', "A B <a@b.co>", "a@[1.2.3.4]", "a@b (c (d))", "g: a@b;", " a@b ", "é@ü", "a.b+c@d.e"],
    [
      "a",
      "a@",
      "@b",
      "a@b@c",
      "a..b@c",
      ".a@b",
      "a.@b",
      '""@b',
      "a@b (c",
      "a@[1.2.3]",
      "a@[01.2.3.4]",
      "a@b, c@d",
      "<a@b> x",
    ],
  ],
  hostname: [["a", "x-y", "a-b.example.com", "münchen.de"], ["my-host", "-a", "a-.com", "a.b", "a_b.com", "1.2.3.4"]],
  ipv4: [["1.2.3.4", "01.2.3.4", "::ffff:1.2.3.4"], ["1.2.3", "1.2.3.256", "::1"]],
  ipv6: [["::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4"], ["1.2.3.4", ":::", "fe80::1%eth0", "::01.2.3.4", "12345::"]],
  cidr: [["10.0.0.1/8", "::/128", "010.0.0.0/08"], ["10.0.0.0", "10.0.0.0/33", "::/129", "/8"]],
  mac: [["00:11:22:33:44:55", "0011.2233.4455", "00-11-22-33-44-55-66-77"], ["00:11:22:33:44", "00:11-22:33:44:55"]],
  uuid: [["550e8400-e29b-41d4-a716-446655440000", "550E8400E29B41D4A716446655440000"], ["550e8400"]],
  uuid3: [["550e8400-e29b-31d4-a716-446655440000"], ["550e8400-e29b-41d4-a716-446655440000"]],
  uuid4: [["550e8400-e29b-41d4-a716-446655440000"], ["550e8400-e29b-41d4-c716-446655440000"]],
  uuid5: [["550e8400-e29b-51d4-a716-446655440000"], ["550e8400-e29b-41d4-a716-446655440000"]],
  isbn: [["0321751043", "978-0321751041"], ["0321751044", "978-0321751042"]],
  isbn10: [["0 321 75104 3", "080442957X"], ["978-0321751041", "0321751044"]],
  isbn13: [["978-0321751041"], ["0321751043"]],
  creditcard: [["4012-8888-8888-1881"], ["4012888888881882", "1234"]],
  ssn: [["111-22-3333", "111 22 3333"], ["111223333", "11-22-3333"]],
  hexcolor: [["#ffffff", "fff"], ["#ffff", "ggg"]],
  rgbcolor: [["rgb(255,0,10)", "rgb( 1 , 2 , 3 )"], ["rgb(256,0,0)", "rgb(01,0,0)"]],
  byte: [["YQ==", "YWI="], ["", "YQ", "Y-=="]],
  password: [["", "x"], []],
  date: [["2024-02-29", "0000-01-01"], ["2023-02-29", "1900-02-29", "2024-13-01", "2024-04-31", "2024-1-1"]],
  duration: [
    ["1h30m", "1.h", "22 ns", "5 minutes", "0", "+0", "-1s", "1d", "2 weeks", "P1D", "99999999999h"],
    ["", "1", "1 x", "abc", "99999999999999999999s", "P1Y"],
  ],
  datetime: [
    ["2024-01-02T03:04:05Z", "2024-01-02t03:04:05.1+01:00", "2024-01-02T03:04:05Ztail"],
    ["2024-02-30T03:04:05Z", "2024-01-02T24:04:05Z", "2024-01-02T03:04:60Z", "2024-01-02 03:04:05Z", "2024-01-02"],
  ],
  k8sshortname: [["a-b"], ["A", "a.b", "a-", "a".repeat(64)]],
  k8slongname: [["a.b-c"], ["a..b", "A", "a_b"]],
  quantity: [["10Gi", "1e3"], ["x", "1 Gi"]],
};

Deno.test("each format of texts takes and refuses what kube-apiserver does", () => {
  const texts = [...FORMATS].filter(([, { type }]) => type === "string").map(([name]) => name);
  assertEquals(texts, Object.keys(TEXTS));
  for (const [name, [fitting, others]] of Object.entries(TEXTS)) {
    const fits = FORMATS.get(name)!.fits as (text: string) => boolean;
    for (const text of fitting) assertEquals([name, text, fits(text)], [name, text, true]);
    for (const text of others) assertEquals([name, text, fits(text)], [name, text, false]);
  }
});

Deno.test("the server drops a format from schemas of another type, and checks newer formats later", () => {
  const known = (type: string | undefined, format: string, version?: number): boolean =>
    checkedFormat({ ...type !== undefined && { type }, format }, version) !== undefined;
  assertEquals(known("string", "date-time"), true);
  assertEquals(known("string", "da-te"), true); // hyphens do not count
  assertEquals(known(undefined, "email"), true);
  assertEquals(known(undefined, "int32"), false);
  assertEquals(known("integer", "int32"), true);
  assertEquals(known("integer", "int-32"), false);
  assertEquals(known("number", "int32"), false);
  assertEquals(known("string", "jwt"), false);
  assertEquals([35, 34].map((version) => known("string", "k8s-short-name", version)), [true, false]);
  assertEquals([38, undefined].map((version) => known("string", "quantity", version)), [true, false]);
});
