/** M6: nothing but what every module costs. */
export {};
