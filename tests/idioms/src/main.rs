//! Prints the table of the README.

use warpheap_idioms::IDIOMS;
use warpheap_idioms::check::Out;
use warpheap_idioms::litmus::LITMUS;

fn main() {
    // Violations are what is looked for: their messages are in the table.
    std::panic::set_hook(Box::new(|_| {}));
    let only = std::env::args().nth(1).unwrap_or_default();
    for idiom in IDIOMS.iter().filter(|idiom| idiom.name.contains(&only)) {
        let whole = idiom.explore(Out::NONE);
        println!(
            "{} | {} | {}",
            idiom.name,
            whole.executions,
            whole.violation.as_deref().unwrap_or("holds"),
        );
        for mutant in idiom.mutants {
            let outcome = idiom.explore(mutant.out);
            let said = outcome.violation.unwrap_or("holds".into());
            let said = said.trim().lines().next().unwrap_or_default().to_string();
            println!("    - {} | {} | {said}", mutant.name, outcome.executions);
        }
    }
    for litmus in LITMUS.iter().filter(|litmus| litmus.name.contains(&only)) {
        let whole = litmus.explore(Out::NONE);
        let said = whole.bad.unwrap_or("holds");
        println!("PTX: {} | {} | {said}", litmus.name, whole.executions);
        for &(name, out, _) in litmus.mutants {
            let verdict = litmus.explore(out);
            let said = verdict.bad.unwrap_or("holds");
            println!("    - {name} | {} | {said}", verdict.executions);
        }
    }
}
