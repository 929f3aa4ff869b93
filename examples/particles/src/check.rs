//! Whether a step is right: neighbours by comparing all with all, and the energy.

use warpheap_particles::{Particle, Push, REACH, distance2};

/// Devices may round a distance in another way: pairs that are at the limit may be neighbours or not.
const ROUNDING: f32 = 1e-5;
/// Part of the energy that may come or go, since steps are not infinitely short.
const DRIFT: f64 = 0.05;

/// Holds the lists against a search among all particles; gives the number of pairs.
///
/// # Errors
/// A sentence about the first particle with a list that is wrong.
pub fn neighbours(particles: &[Particle], lists: Vec<Vec<u32>>) -> Result<usize, String> {
    let mut pairs = 0;
    for (i, (own, mut list)) in particles.iter().zip(lists).enumerate() {
        pairs += list.len();
        list.sort_unstable();
        let mut list = list.into_iter().peekable();
        for (j, other) in particles.iter().enumerate() {
            let listed = list.next_if_eq(&(j as u32)).is_some();
            let ratio = distance2(*own, *other) / (REACH * REACH);
            let near = i != j && ratio < 1.0;
            let unsure = i != j && (ratio - 1.0).abs() < ROUNDING;
            if listed != near && !unsure {
                let word = if listed { "is" } else { "is not" };
                return Err(format!(
                    "{j} {word} among the neighbours of {i}, at {ratio} of the reach squared"
                ));
            }
        }
        if let Some(stray) = list.next() {
            return Err(format!("{stray} is too much among the neighbours of {i}"));
        }
    }
    Ok(pairs / 2)
}

/// The energy of all particles.
#[derive(Default)]
pub struct Energy {
    first: Option<f64>,
    /// What it was in the last step.
    pub last: f64,
}

impl Energy {
    /// Looks at a step.
    ///
    /// # Errors
    /// A sentence for the user if a particle is out of the box, or if the energy is not what it was.
    pub fn check(
        &mut self,
        step: u32,
        particles: &[Particle],
        pushes: &[Push],
    ) -> Result<(), String> {
        let inside = |particle: &Particle| {
            (0.0..=1.0).contains(&particle.x) && (0.0..=1.0).contains(&particle.y)
        };
        if let Some(i) = particles.iter().position(|particle| !inside(particle)) {
            return Err(format!(
                "step {step}: particle {i} is out of the box: {:?}",
                particles[i]
            ));
        }
        let square = |x: f32| f64::from(x) * f64::from(x);
        let moving: f64 = particles
            .iter()
            .map(|p| (square(p.vx) + square(p.vy)) / 2.0)
            .sum();
        let pushing: f64 = pushes.iter().map(|push| f64::from(push.energy)).sum();
        self.last = moving + pushing;
        let first = *self.first.get_or_insert(self.last);
        // Written so that what is no number is wrong, too.
        let kept = (self.last - first).abs() <= DRIFT * first + 1e-9;
        if !kept {
            return Err(format!(
                "step {step}: the energy is {}, and was {first}",
                self.last
            ));
        }
        Ok(())
    }
}
